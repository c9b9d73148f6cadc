"""Mechanisms whose privacy is decided by floating-point arithmetic, which no program of real numbers shows."""

from __future__ import annotations

import math
from typing import Any

import numpy

from dpverdict import vectorised
from dpverdict.catalog.citations import BICHSEL_SNIPER, MIRONOV
from dpverdict.catalog.entry import Entry, Kind, Published, Truth
from dpverdict.mechanism.black_box import FunctionBox
from dpverdict.mechanism.source import source_of

_MANTISSA = 52


@vectorised
def laplace_floating_point(value: float, runs: int, rng: numpy.random.Generator, epsilon: float) -> Any:
    """Laplace noise by inversion in 64-bit floats, as textbooks and libraries had it."""
    sign = rng.choice((-1.0, 1.0), runs)
    return value + sign * numpy.log(1 - rng.random(runs)) / epsilon


@vectorised
def snapping(value: float, runs: int, rng: numpy.random.Generator, epsilon: float, bound: float = 1000) -> Any:
    """Mironov's snapping mechanism: clamp, add noise from all floats below 1, round to a power of two, clamp."""
    scale = (1 + 2.0**-40 * bound) / epsilon  # the theorem asks for 2**-49; the rest is for NumPy's logarithm
    grid = 2.0 ** math.ceil(math.log2(scale))
    fraction = 1 + rng.integers(1 << _MANTISSA, size=runs) / (1 << _MANTISSA)
    uniform = numpy.ldexp(fraction, -rng.geometric(0.5, runs))
    sign = rng.choice((-1.0, 1.0), runs)
    noisy = numpy.clip(value, -bound, bound) + sign * scale * numpy.log(uniform)
    return numpy.clip(numpy.rint(noisy / grid) * grid + 0.0, -bound, bound)  # + 0.0: no negative zero


_WHY = (
    "the floats themselves are the subject: the order of operations and the lowest bits decide, and a program is about "
    "real numbers"
)

ENTRIES = (
    Entry(
        name="laplace-floating-point",
        title="Laplace mechanism in 64-bit floating point (leaks through its lowest bits)",
        mechanism=FunctionBox(laplace_floating_point, source_of(laplace_floating_point)),
        paper=MIRONOV,
        epsilon="0.1",
        example=0,
        neighbour=1,
        holds=False,
        truths=(
            Truth(
                Kind.NOT_PRIVATE,
                "fails: many outputs can be reached from one input only, which their lowest bits show",
                MIRONOV,
                about="as the code runs",
                value=math.inf,
            ),
        ),
        published=(
            Published(
                "DP-Sniper (bit features)",
                "section VI-D",
                BICHSEL_SNIPER,
                0.2521,
                seconds=2125,
            ),
        ),
        why_black_box=_WHY,
        notes="the lowest bits tell most about small inputs, such as 0 against 1",
    ),
    Entry(
        name="snapping",
        title="Snapping mechanism (Laplace noise that is safe in its bits)",
        mechanism=FunctionBox(snapping, source_of(snapping)),
        paper=MIRONOV,
        domain="real:-1000,1000",
        epsilon="0.1",
        example=0,
        neighbour=1,
        holds=True,
        truths=(
            Truth(
                Kind.HOLDS,
                "holds for a logarithm that is rounded correctly (theorem 1); the scale is larger than it has to be by "
                "far more than NumPy's logarithm is off",
                MIRONOV,
            ),
        ),
        published=(Published("DP-Sniper (bit features)", "section VI-D", BICHSEL_SNIPER, 0.0979),),
        why_black_box=_WHY,
        notes="a control: what finds fault with laplace-floating-point has to pass it. `bound` clamps input and "
        "output; results are multiples of a power of two",
    ),
)
