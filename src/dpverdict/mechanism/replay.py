"""Holding a program against the function that it was traced from, on the same noise.

Tracing believes what the function does with symbols.  A function can still behave differently with numbers (it
looks at `type(x)`, a library swallowed an error, …), and a wrong program would make wrong proofs.  So every new
program is run beside its function, noise value by noise value, until the runs have taken every side of every branch
or enough were made; a difference rejects the program.
"""

from __future__ import annotations

import contextlib
import copy
import io
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpverdict.errors import InputError
from dpverdict.execute import seeds
from dpverdict.mechanism.constants import from_python
from dpverdict.mechanism.evaluate import Known, evaluate, run
from dpverdict.mechanism.explored import Explored
from dpverdict.mechanism.graph import in_order
from dpverdict.mechanism.noise import options_of
from dpverdict.mechanism.outcome import Raised
from dpverdict.mechanism.path_record import Untraceable
from dpverdict.mechanism.properties import children
from dpverdict.mechanism.recorded_noise import Drawn, RecordedNoise
from dpverdict.mechanism.structure import Affine, BranchNode, Comparison, Draw, Program, Term
from dpverdict.mechanism.trace import out_of_time
from dpverdict.mechanism.watch import OutOfTime, Watcher

if TYPE_CHECKING:
    from dpverdict.mechanism.front import Mechanism

_EPSILONS = (1.0, 0.25, 4.0)
_FEWEST_RUNS = 12
_MOST_RUNS = 500
_DRAWS = 400
"""How many draws the runs beyond the fewest may make together, besides one for each path: a limit on the time that
depends on the program alone, so that a loaded machine rejects the same programs as an idle one."""

_OFTEN_ENOUGH = 16

_SPECIAL_SHARE = 0.25
"""How often an input that is moved takes one of the whole numbers that the program compares with."""

_LARGEST_SPECIAL = 2**53
"""Beyond this, not every whole number is a float."""

_TOLERANCE = 1e-9


class DifferentError(Exception):
    """The program and the function went different ways."""


def replay(mechanism: Mechanism, program: Program, example: Any) -> Untraceable | None:
    """Run the program beside its function; None if they agree, else what to tell."""
    compared = False
    branches = [node for node in in_order(program.root) if isinstance(node, BranchNode)]
    rare = Counter({(id(node), side): _OFTEN_ENOUGH for node in branches for side in (True, False)})
    numbers = {number for node in branches for number in _special(node.condition)}
    special = sorted(number for number in numbers if abs(number) < _LARGEST_SPECIAL)
    draws_left = _DRAWS + program.paths
    try:
        with Watcher(mechanism.limits.seconds, mechanism.limits.path_seconds).running() as watcher:
            for attempt in range(_MOST_RUNS):
                if attempt >= _FEWEST_RUNS and (not rare or draws_left <= 0):
                    break
                with watcher.one_path():
                    known = _one_run(mechanism, program, example, (attempt, special))
                compared = compared or known.closest > _TOLERANCE
                draws_left -= len(known.draws) if attempt >= _FEWEST_RUNS else 0
                rare -= Counter(known.sides)  # keeps what has not been taken often enough
    except OutOfTime as error:
        return out_of_time(error)
    except DifferentError as error:
        return Untraceable(
            f"the traced program and the function itself differ on the same noise ({error})",
            "avoid type(x), isinstance on noisy values, hidden state, and libraries that cannot see symbols",
            None,
        )
    if compared:
        return None
    return Untraceable(
        "no run of the program could be compared with the function: rounding may decide a comparison in all of them",
        "keep apart values that differ by rounding errors only",
        None,
    )


def _special(term: Term) -> Iterator[int]:
    """The whole numbers that a condition compares something with."""
    if isinstance(term, Comparison):
        difference = term.difference
        constant, parts = (
            (difference.constant, difference.terms)
            if isinstance(difference, Affine)
            else (Fraction(0), ((difference, Fraction(1)),))
        )
        yield from (round(-constant / coefficient) for _, coefficient in parts)
    for inner in children(term):
        yield from _special(inner)


def _one_run(mechanism: Mechanism, program: Program, example: Any, which: tuple[int, list[int]]) -> Known:
    """One run of both; the run that they had in common."""
    attempt, special = which
    generator = seeds.generator(0, f"replay {mechanism.name}", attempt)
    stays = program.concrete is not None or attempt % 2 == 0
    content = example if stays else _fitting(mechanism, _moved(example, generator, special), example)
    arguments = mechanism.arguments(program.arguments, epsilon=_EPSILONS[attempt % len(_EPSILONS)])
    recorder = RecordedNoise(generator, wild=attempt % 4 > 1 or attempt >= _FEWEST_RUNS, special=special)
    real = _really(mechanism, recorder, content, arguments)
    known = Known(content, arguments.get(mechanism.epsilon_name or ""), arguments)
    drawn = iter(recorder.record)
    try:
        _compare(program, known, drawn, real)
    except DifferentError:
        if known.closest > _TOLERANCE:  # otherwise rounding may have tipped a comparison
            raise
    except OverflowError:  # floating point ends here, not the program
        known.closest = 0.0
    return known


def _really(mechanism: Mechanism, noise: RecordedNoise, content: Any, arguments: dict[str, Any]) -> Any:
    """What the function itself gives."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return mechanism.function(noise, copy.deepcopy(content), **copy.deepcopy(arguments))
    except (OutOfTime, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 (any exception is an outcome)
        return Raised(type(error).__name__)


def _compare(program: Program, known: Known, drawn: Iterator[Drawn], real: Any) -> None:
    try:
        ours = run(program.root, known, lambda draw: _supply(draw, drawn, known))
    except (ArithmeticError, ValueError, TypeError, LookupError) as error:
        if isinstance(error, OverflowError):
            raise
        raise DifferentError(f"the program cannot be evaluated: {error}") from None
    if next(drawn, None) is not None:
        raise DifferentError("the function draws more noise")
    if not _same(ours, real):
        raise DifferentError(
            f"the function gives {real!r}, the program {ours!r}, input {known.input!r}, epsilon {known.epsilon}"
        )


def _supply(draw: Draw, drawn: Iterator[Drawn], known: Known) -> Any:
    """The noise that the function received, if it asked for the same."""
    found = next(drawn, None)
    law = draw.law
    method = _METHODS.get(law.name)
    if found is None or (method is not None and found.method != method):
        raise DifferentError(f"the program draws {law.name}, the function {found.method if found else 'nothing more'}")
    if method is None:
        return found.outcome
    for name, asked in _asked(found).items():
        part = getattr(law, name)
        ours = [evaluate(inner, known) for inner in (part if isinstance(part, tuple) else (part,))]
        if not _close(ours, asked):
            raise DifferentError(f"the function draws {law.name} with {name} {asked}, the program with {ours}")
    location = getattr(law, "location", None)
    if location is None:
        return found.outcome
    moved = found.outcome - found.given["loc"] + evaluate(location, known)
    return round(moved) if law.kind.is_integral else moved


def _asked(found: Drawn) -> dict[str, list[Any]]:
    """What the function asked for, by the names that the law has for it (all but the location)."""
    given = found.given
    match found.method:
        case "bernoulli":
            return {"probability": [given["p"]]}
        case "choice":
            options = list(options_of(given["a"]))
            weights = [1 / len(options)] * len(options) if given["p"] is None else list(given["p"])
            return {"values": options, "weights": weights}
        case "exponential_mechanism":
            values = range(len(given["scores"])) if given["values"] is None else given["values"]
            return {"values": list(values), "scores": list(given["scores"]), "rate": [given["rate"]]}
        case _:
            return {name: [given[name]] for name in ("scale", "low", "high") if name in given}


def _close(ours: list[Any], asked: list[Any]) -> bool:
    if len(ours) != len(asked):
        return False
    pairs = list(zip(ours, asked, strict=True))
    if all(isinstance(item, (int, float, Fraction, np.number, np.bool_)) for pair in pairs for item in pair):
        return all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) or a == b for a, b in pairs)
    return all(from_python(a) == from_python(b) for a, b in pairs)


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


def _fitting(mechanism: Mechanism, moved: Any, example: Any) -> Any:
    """The moved input, or the example where the function would refuse the moved one."""
    if isinstance(mechanism.function, Explored):
        try:
            mechanism.function.check_input(moved)
        except InputError:
            return example
    return moved


def _moved(content: Any, generator: np.random.Generator, special: list[int]) -> Any:
    """A different input of the same form; now and then a number is one that the program compares with."""
    if isinstance(content, np.ndarray):
        flat = [_moved(item, generator, special) for item in content.reshape(-1).tolist()]
        return np.asarray(flat, dtype=content.dtype).reshape(content.shape)
    if isinstance(content, (list, tuple)):
        return type(content)(_moved(item, generator, special) for item in content)
    if isinstance(content, dict):
        return {key: _moved(item, generator, special) for key, item in content.items()}
    if isinstance(content, (bool, np.bool_)):
        return bool(generator.integers(2))
    whole = isinstance(content, (int, np.integer))
    if special and generator.random() < _SPECIAL_SHARE:
        near = special[int(generator.integers(len(special)))]
        return near if whole else float(near)
    return int(content) + int(generator.integers(-1, 2)) if whole else float(content) + float(generator.normal())


def _same(ours: Any, real: Any) -> bool:
    if isinstance(real, (np.ndarray, np.generic)):
        real = real.tolist()
    if isinstance(ours, (list, tuple)) or isinstance(real, (list, tuple)):
        both = isinstance(ours, (list, tuple)) and isinstance(real, (list, tuple)) and len(ours) == len(real)
        return both and all(_same(a, b) for a, b in zip(ours, real, strict=True))
    if isinstance(ours, dict) or isinstance(real, dict):
        both = isinstance(ours, dict) and isinstance(real, dict) and list(ours) == list(real)
        return both and all(_same(ours[key], real[key]) for key in ours)
    if isinstance(ours, bool) or isinstance(real, bool):  # as outcomes, True is not 1
        return isinstance(ours, bool) and isinstance(real, bool) and ours == real
    if isinstance(ours, (int, float)) and isinstance(real, (int, float)):
        if math.isnan(ours) or math.isnan(real):
            return math.isnan(ours) and math.isnan(real)
        return math.isclose(ours, real, rel_tol=1e-7, abs_tol=1e-7)
    return bool(ours == real)
