"""Holding a program against the function that it was traced from, on the same noise.

Tracing believes what the function does with symbols.  A function can still behave differently with numbers (it
looks at `type(x)`, a library swallowed an error, …), and a wrong program would make wrong proofs.  So every new
program is run beside its function a few times, noise value by noise value; a difference rejects the program.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpverdict.execute import seeds
from dpverdict.mechanism.evaluate import Known, Raised, evaluate, run
from dpverdict.mechanism.noise import RealNoise
from dpverdict.mechanism.structure import Draw, Program
from dpverdict.mechanism.trace import Untraceable

if TYPE_CHECKING:
    from dpverdict.mechanism.front import Mechanism

_EPSILONS = (1.0, 0.25, 4.0)
_RUNS = 12
_TOLERANCE = 1e-9


class DifferentError(Exception):
    """The program and the function went different ways."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A scalar of real noise as the function received it."""

    method: str
    outcome: Any
    location: float
    scale: float | None


class _Recorder:
    """Real noise that remembers every scalar that it gives."""

    def __init__(self, real: RealNoise) -> None:
        self._real = real
        self.record: list[_Drawn] = []

    def __getattr__(self, method: str) -> Any:
        real = getattr(self._real, method)
        signature = inspect.signature(real)

        def call(*args: Any, **keywords: Any) -> Any:
            outcome = real(*args, **keywords)
            bound = signature.bind(*args, **keywords)
            bound.apply_defaults()
            outcomes = np.asarray(outcome)
            location = np.broadcast_to(np.asarray(bound.arguments.get("loc", 0)), outcomes.shape)
            scale = np.broadcast_to(np.asarray(bound.arguments.get("scale", math.nan)), outcomes.shape)
            for at in np.ndindex(*outcomes.shape):
                width = float(scale[at])
                value = outcome if outcomes.shape == () else outcomes[at].item()
                self.record.append(_Drawn(method, value, float(location[at]), None if math.isnan(width) else width))
            return outcome

        return call


def replay(mechanism: Mechanism, program: Program, example: Any) -> Untraceable | None:
    """Run the program beside its function; None if they agree, else what to tell."""
    for attempt in range(_RUNS):
        generator = seeds.generator(0, f"replay {mechanism.name}", attempt)
        content = example if program.concrete is not None or attempt % 2 == 0 else _moved(example, generator)
        try:
            _one_run(mechanism, program, content, generator, _EPSILONS[attempt % len(_EPSILONS)])
        except DifferentError as error:
            return Untraceable(
                f"the traced program and the function itself differ on the same noise ({error})",
                "avoid type(x), isinstance on noisy values, hidden state, and libraries that cannot see symbols",
                None,
            )
    return None


def _one_run(
    mechanism: Mechanism, program: Program, content: Any, generator: np.random.Generator, epsilon: float
) -> None:
    arguments = mechanism.arguments(program.arguments, epsilon=epsilon)
    recorder = _Recorder(RealNoise(generator))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            real = mechanism.function(recorder, copy.deepcopy(content), **copy.deepcopy(arguments))
    except Exception as error:  # noqa: BLE001 (any exception is an outcome)
        real = Raised(type(error).__name__)
    known = Known(content, arguments.get(mechanism.epsilon_name or ""), arguments)
    drawn = iter(recorder.record)
    try:
        ours = run(program.root, known, lambda draw: _supply(draw, drawn, known))
        if next(drawn, None) is not None:
            raise DifferentError("the function draws more noise")
        if not _same(ours, real):
            raise DifferentError(
                f"the function gives {real!r}, the program {ours!r}, input {content!r}, epsilon {epsilon}"
            )
    except DifferentError:
        if known.closest > _TOLERANCE:  # otherwise rounding may have tipped a comparison
            raise


def _supply(draw: Draw, drawn: Iterator[_Drawn], known: Known) -> Any:
    found = next(drawn, None)
    method = _METHODS.get(draw.law.name)
    if found is None or (method is not None and found.method != method):
        raise DifferentError(
            f"the program draws {draw.law.name}, the function {found.method if found else 'nothing more'}"
        )
    scale = getattr(draw.law, "scale", None)
    if (
        scale is not None
        and found.scale is not None
        and not math.isclose(evaluate(scale, known), found.scale, rel_tol=1e-9)
    ):
        raise DifferentError(f"the function draws {draw.law.name} with scale {found.scale}")
    location = getattr(draw.law, "location", None)
    if location is None:
        return found.outcome
    moved = found.outcome - found.location + evaluate(location, known)
    return round(moved) if draw.law.kind.is_integral else moved


_METHODS = {
    "Laplace": "laplace",
    "Exponential": "exponential",
    "DiscreteLaplace": "discrete_laplace",
    "TruncatedDiscreteLaplace": "truncated_discrete_laplace",
    "TruncatedGeometric": "truncated_geometric",
    "Gaussian": "normal",
    "DiscreteGaussian": "discrete_gaussian",
    "Gumbel": "gumbel",
    "Uniform": "uniform",
    "Bernoulli": "bernoulli",
    "FiniteChoice": "choice",
    "ExponentialMechanism": "exponential_mechanism",
}


def _moved(content: Any, generator: np.random.Generator) -> Any:
    """A different input of the same form."""
    if isinstance(content, np.ndarray):
        flat = [_moved(item, generator) for item in content.reshape(-1).tolist()]
        return np.asarray(flat, dtype=content.dtype).reshape(content.shape)
    if isinstance(content, (list, tuple)):
        return type(content)(_moved(item, generator) for item in content)
    if isinstance(content, dict):
        return {key: _moved(item, generator) for key, item in content.items()}
    if isinstance(content, (bool, np.bool_)):
        return bool(generator.integers(2))
    if isinstance(content, (int, np.integer)):
        return int(content) + int(generator.integers(-1, 2))
    return float(content) + float(generator.normal())


def _same(ours: Any, real: Any) -> bool:
    if isinstance(real, (np.ndarray, np.generic)):
        real = real.tolist()
    if isinstance(ours, (list, tuple)) or isinstance(real, (list, tuple)):
        both = isinstance(ours, (list, tuple)) and isinstance(real, (list, tuple)) and len(ours) == len(real)
        return both and all(_same(a, b) for a, b in zip(ours, real, strict=True))
    if isinstance(ours, dict) or isinstance(real, dict):
        both = isinstance(ours, dict) and isinstance(real, dict) and list(ours) == list(real)
        return both and all(_same(ours[key], real[key]) for key in ours)
    if isinstance(ours, (int, float)) and isinstance(real, (int, float)):
        if math.isnan(ours) or math.isnan(real):
            return math.isnan(ours) and math.isnan(real)
        return math.isclose(ours, real, rel_tol=1e-7, abs_tol=1e-7)
    return bool(ours == real)
