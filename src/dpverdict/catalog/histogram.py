"""Noisy histograms, and other vectors whose entries get Laplace noise each."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpverdict import discretise
from dpverdict.catalog.citations import DING_ET_AL, DWORK_MCSHERRY_NISSIM_SMITH, WANG_ET_AL
from dpverdict.catalog.entry import Counterexample, Entry, Kind, Truth
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise


def released(value: Any, edges: Sequence[float] | None) -> Any:
    """A noisy number as it is put out: itself, or where it lies among the edges."""
    return value if edges is None else discretise(value, edges)


@mechanism
def histogram(noise: Noise, counts: Any, epsilon: Any, edges: Sequence[float] | None = None) -> list[Any]:
    """Every cell with Laplace noise of its own."""
    return [released(noise.laplace(count, scale=1 / epsilon), edges) for count in counts]


@mechanism
def histogram_wrong_scale(noise: Noise, counts: Any, epsilon: Any, edges: Sequence[float] | None = None) -> list[Any]:
    """Every cell with Laplace noise, but of the scale ε instead of 1/ε."""
    return [released(noise.laplace(count, scale=epsilon), edges) for count in counts]


@mechanism
def prefix_sums(noise: Noise, values: Any, epsilon: Any) -> list[Any]:
    """The sums of the first 1, 2, … values, every value with Laplace noise of its own."""
    total, sums = 0, []
    for value in values:
        total = total + noise.laplace(value, scale=1 / epsilon)
        sums.append(total)
    return sums


@mechanism
def laplace_parallel(noise: Noise, value: Any, epsilon: Any, copies: int = 20) -> list[Any]:
    """The same number several times, each time with Laplace noise for its share of ε."""
    return [noise.laplace(value, scale=copies / epsilon) for _ in range(copies)]


@mechanism
def noisy_sum(noise: Noise, values: Any, epsilon: Any) -> Any:
    """The sum of a list with Laplace noise."""
    return noise.laplace(sum(values), scale=1 / epsilon)


_FIVE = (1, 1, 1, 1, 1)

ENTRIES = (
    Entry(
        name="histogram",
        title="Noisy histogram",
        mechanism=histogram,
        paper=DWORK_MCSHERRY_NISSIM_SMITH,
        adjacency="l1:1",
        length=5,
        example=_FIVE,
        neighbour=(2, 1, 1, 1, 1),
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss",
                DWORK_MCSHERRY_NISSIM_SMITH,
                factor=Fraction(1),
            ),
            Truth(
                Kind.EXACT,
                "when every one of n cells may change by 1, the loss is n·epsilon",
                about="neighbours under linf:1, five cells",
                factor=Fraction(5),
            ),
        ),
        notes="StatDP's algorithm 9; its wrong variant (algorithm 10) is histogram-wrong-scale",
    ),
    Entry(
        name="histogram-wrong-scale",
        title="Noisy histogram with the scale upside down (a bug)",
        mechanism=histogram_wrong_scale,
        paper=DING_ET_AL,
        adjacency="l1:1",
        length=5,
        example=_FIVE,
        neighbour=(2, 1, 1, 1, 1),
        holds=False,
        truths=(
            Truth(
                Kind.EXACT,
                "the exact loss is 1/epsilon, so the claim fails for epsilon below 1 and holds from 1 on",
                DING_ET_AL,
                loss="1/epsilon",
            ),
        ),
        counterexamples=(
            Counterexample((0, 0, 0, 0, 0), (1, 0, 0, 0, 0), "the first cell is at most 0", "1/2", note="ratio exp(2)"),
        ),
        notes="the noise of StatDP's algorithm 10",
    ),
    Entry(
        name="prefix-sums",
        title="Prefix sums of noisy values",
        mechanism=prefix_sums,
        paper=WANG_ET_AL,
        adjacency="l1:1",
        length=10,
        example=(0,) * 10,
        neighbour=(1, *(0,) * 9),
        holds=True,
        truths=(
            Truth(
                Kind.EXACT,
                "holds, and epsilon is the exact loss: the sums are a one-to-one function of the noisy values",
                WANG_ET_AL,
                factor=Fraction(1),
            ),
            Truth(
                Kind.EXACT,
                "when every one of n values may change by 1, the loss is n·epsilon",
                about="neighbours under linf:1, ten values",
                factor=Fraction(10),
            ),
        ),
    ),
)
