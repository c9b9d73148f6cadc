"""How a function wants to be called: which parameter is the input, which the number of runs, which the randomness.

The first parameter is the input, whatever its name.  A parameter called `runs` (or n, size, n_samples, num_samples,
n_runs) makes a function vectorised: it returns one output per row.  One called `rng` (or generator, prng) gets a
`numpy.random.Generator`, `random_state` a `numpy.random.RandomState`, `seed` a fresh whole number.
"""

from __future__ import annotations

import functools
import inspect
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar, overload

import numpy as np

from dpverdict.errors import Excerpt, RunError
from dpverdict.mechanism.noise import RealNoise
from dpverdict.mechanism.place import Place

F = TypeVar("F", bound=Callable[..., Any])

RUNS_NAMES = ("runs", "n", "size", "n_samples", "num_samples", "n_runs")
RNG_NAMES = ("rng", "generator", "random_state", "prng", "seed")

_DECLARED = "__dpverdict_declared__"
_SEEDS = 1 << 32
"""Seeds that every library takes.  They are drawn independently, so runs stay independent, repeats or not."""


class Form(Enum):
    """What one call of a function gives."""

    SINGLE_RUN = "@single_run"
    VECTORISED = "@vectorised"


class Randomness(Enum):
    """What a function draws its noise from."""

    GENERATOR = "numpy.random.Generator"
    RANDOM_STATE = "numpy.random.RandomState"
    RANDOM = "random.Random"
    SEED = "a whole number"
    NOISE = "a noise source"


@dataclass(frozen=True, slots=True)
class Declared:
    """What is said about a function, by a decorator or by options; None is what its signature has to say."""

    form: Form | None = None
    runs_arg: str | None = None
    rng_arg: str | None = None


@dataclass(frozen=True, slots=True)
class Calling:
    """How a function is called."""

    form: Form
    input_name: str
    runs_name: str | None
    rng_name: str | None
    randomness: Randomness
    others: Mapping[str, inspect.Parameter]
    """The parameters that get arguments."""
    in_order: tuple[str, ...]
    """Parameters after the input that cannot be given by name."""
    takes_any_name: bool


@overload
def vectorised(function: F, /) -> F: ...
@overload
def vectorised(*, runs_arg: str | None = None, rng_arg: str | None = None) -> Callable[[F], F]: ...
def vectorised(function: Any = None, /, *, runs_arg: str | None = None, rng_arg: str | None = None) -> Any:
    """Declare a function `(input, runs, rng)` that returns one output per row; it stays an ordinary function."""
    return _declare(function, Declared(Form.VECTORISED, runs_arg, rng_arg))


@overload
def single_run(function: F, /) -> F: ...
@overload
def single_run(*, rng_arg: str | None = None) -> Callable[[F], F]: ...
def single_run(function: Any = None, /, *, rng_arg: str | None = None) -> Any:
    """Declare a function `(input, rng)` or `(input)` whose call is one run; it stays an ordinary function."""
    return _declare(function, Declared(Form.SINGLE_RUN, None, rng_arg))


def _declare(function: Any, declared: Declared) -> Any:
    if function is None:
        return lambda inner: _declare(inner, declared)
    try:
        setattr(function, _DECLARED, declared)
    except (AttributeError, TypeError):
        raise RunError(
            "RUN-001",
            f"{function!r} cannot be declared",
            why="what is built into Python or a library takes no declaration",
            fix="def mine(input, rng): …  around it",
        ) from None
    return function


def declared_as(function: object) -> Declared | None:
    """What a decorator said about a function, None if there was none."""
    found = getattr(function, _DECLARED, None)
    return found if isinstance(found, Declared) else None


# --- reading a signature -----------------------------------------------------------------------------------------


def calling_of(function: Callable[..., Any], names: Declared, given: Collection[str] = ()) -> Calling:
    """How to call a function; `names` win over what its decorator says, arguments that are `given` are no runs or rng.

    Raises `RunError`, saying what was seen and how to declare it.
    """
    own = declared_as(function) or declared_as(_method_called(function)) or Declared()
    signature = _signature(function)
    refuse_async(function)
    first, *rest = _parameters(function, signature)
    over_noise = first.name == "noise" and bool(rest) and own.form is None
    if over_noise:
        first, *rest = rest
    runs_arg = names.runs_arg or own.runs_arg
    rng_arg = names.rng_arg or own.rng_arg
    for option, name in (("runs_arg", runs_arg), ("rng_arg", rng_arg)):
        if name is not None and name not in [parameter.name for parameter in rest]:
            raise _no_such_parameter(function, option, name)
    known = {parameter.name: parameter for parameter in rest if parameter.name not in given}
    form = Form.VECTORISED if names.runs_arg else own.form
    if over_noise:
        form = Form.SINGLE_RUN
    elif form is None and runs_arg is None:
        _refuse_swapped(function, first, rest)
    runs_name = None if form is Form.SINGLE_RUN else runs_arg or _found(function, known, RUNS_NAMES, "runs")
    if form is None and runs_arg is None and runs_name is not None and _is_optional(known[runs_name]):
        raise _two_readings(function, runs_name)
    if form is Form.VECTORISED and runs_name is None:
        raise _no_runs(function)
    rng_name = "noise" if over_noise else rng_arg or _found(function, known, RNG_NAMES, "rng")
    others = {parameter.name: parameter for parameter in rest if parameter.name not in (runs_name, rng_name)}
    return Calling(
        form=Form.SINGLE_RUN if runs_name is None else Form.VECTORISED,
        input_name=first.name,
        runs_name=runs_name,
        rng_name=rng_name,
        randomness=Randomness.GENERATOR if rng_name is None else _randomness(signature.parameters[rng_name]),
        others=others,
        in_order=tuple(item.name for item in rest if item.kind is inspect.Parameter.POSITIONAL_ONLY),
        takes_any_name=any(item.kind is inspect.Parameter.VAR_KEYWORD for item in signature.parameters.values()),
    )


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        raise RunError(
            "RUN-002",
            f"{name_of(function)} does not say what its parameters are",
            place=f"got {function!r}"[:120],
            why="it is built into Python or a library, so its input and its randomness cannot be found",
            fix="def mine(input, rng): …  around it",
        ) from None


def _parameters(function: Callable[..., Any], signature: inspect.Signature) -> list[inspect.Parameter]:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    listed = [parameter for parameter in signature.parameters.values() if parameter.kind not in variable]
    if listed and listed[0].kind is not inspect.Parameter.KEYWORD_ONLY:
        return listed
    if not listed and any(item.kind is inspect.Parameter.VAR_POSITIONAL for item in signature.parameters.values()):
        return [inspect.Parameter("input", inspect.Parameter.POSITIONAL_ONLY)]
    raise RunError(
        "RUN-003",
        f"{name_of(function)} takes no input",
        place=where(function),
        excerpt=shown(function),
        why="the first parameter of a mechanism is its input, whatever its name; it is passed by position",
        fix=f"def {name_of(function)}(input, rng): …",
    )


def refuse_async(function: Callable[..., Any]) -> None:
    """Refuse functions that a plain call does not run."""
    call = function if inspect.isroutine(function) else _method_called(function)
    is_async = inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call)
    if is_async or inspect.isgeneratorfunction(call):
        raise RunError(
            "RUN-004",
            f"{name_of(function)} is {'async' if is_async else 'a generator function'}",
            place=where(function),
            excerpt=shown(function),
            why="calling it does not run it",
            fix="return asyncio.run(…) from a plain function" if is_async else "return list(…) from a plain function",
        )


def _method_called(function: object) -> Any:
    """What calling an instance calls: no instance's own attribute, so `callable` is not the question."""
    return inspect.getattr_static(type(function), "__call__", None)


def _refuse_swapped(function: Callable[..., Any], first: inspect.Parameter, rest: list[inspect.Parameter]) -> None:
    if rest and first.name in ("rng", "generator", "prng", "random_state", "runs", "n_runs"):
        raise RunError(
            "RUN-005",
            f"the first parameter of {name_of(function)} is called {first.name!r}",
            place=where(function),
            excerpt=shown(function, first.name, "this would get the input"),
            why="the first parameter is the input, whatever its name",
            fix=f"put the input first: def {name_of(function)}(input, {first.name}); "
            "or declare it with @single_run or @vectorised, if that is its input",
        )


def _found(
    function: Callable[..., Any], known: Mapping[str, inspect.Parameter], names: tuple[str, ...], what: str
) -> str | None:
    found = [name for name in names if name in known]
    if len(found) < 2 or found[0] == what:
        return found[0] if found else None
    raise RunError(
        "RUN-006",
        f"{name_of(function)} has {len(found)} parameters that could be {what}: {', '.join(found)}",
        place=where(function),
        excerpt=shown(function, found[1], f"or {found[0]}?"),
        why="each of these names is usual for it",
        fix=f"--{what}-arg {found[0]} (in Python {what}_arg={found[0]!r}), or --arg {found[1]}=… for the other",
    )


def _is_optional(parameter: inspect.Parameter) -> bool:
    return parameter.default is not inspect.Parameter.empty


def _two_readings(function: Callable[..., Any], name: str) -> RunError:
    return RunError(
        "RUN-007",
        f"{name_of(function)} may be one run or many",
        place=where(function),
        excerpt=shown(function, name, "has a default"),
        why=f"with {name!r} it could return one output per row, without it a single one",
        fix=f"--runs-arg {name} or @vectorised above it for many; @single_run above it for one",
    )


def _no_runs(function: Callable[..., Any]) -> RunError:
    return RunError(
        "RUN-008",
        f"{name_of(function)} is declared as vectorised, but does not take the number of runs",
        place=where(function),
        excerpt=shown(function),
        why=f"no parameter after the input is called {', '.join(RUNS_NAMES)}",
        fix="@vectorised(runs_arg='…') with the name of the parameter that says how many, or @single_run",
    )


def _no_such_parameter(function: Callable[..., Any], option: str, name: str) -> RunError:
    names = [parameter.name for parameter in _parameters(function, _signature(function))][1:]
    return RunError(
        "RUN-009",
        f"{name_of(function)} has no parameter called {name!r} after its input",
        place=where(function),
        excerpt=shown(function),
        why=f"{option} names one of: {', '.join(names) or 'none there is'}",
        fix=f"{option}={names[0]!r}" if names else f"leave {option} out",
    )


def _randomness(parameter: inspect.Parameter) -> Randomness:
    if parameter.name == "noise":
        return Randomness.NOISE
    annotation = parameter.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    kinds = {
        "Generator": Randomness.GENERATOR,
        "RandomState": Randomness.RANDOM_STATE,
        "Random": Randomness.RANDOM,
        "int": Randomness.SEED,
    }
    named = kinds.get(written.split("|")[0].strip().rpartition(".")[2])
    usual = {"seed": Randomness.SEED, "random_state": Randomness.RANDOM_STATE}
    return named or usual.get(parameter.name, Randomness.GENERATOR)


# --- calling -----------------------------------------------------------------------------------------------------


def bind(
    function: Callable[..., Any], calling: Calling, generator: np.random.Generator, runs: int, given: Mapping[str, Any]
) -> Callable[[Any], Any]:
    """The function of the input alone; everything else is fixed, outside the loop over runs."""
    keywords = dict(given)
    if calling.runs_name is not None:
        keywords[calling.runs_name] = runs
    if calling.rng_name is not None and calling.randomness is Randomness.NOISE:
        return functools.partial(function, RealNoise(generator), **keywords)
    if calling.rng_name is not None and calling.randomness is Randomness.SEED:
        return _seeded(function, calling, keywords, _seeds(generator, 1 if calling.runs_name else min(runs, 1 << 12)))
    if calling.rng_name is not None:
        keywords[calling.rng_name] = _source_of_noise(calling.randomness, generator)
    if calling.in_order:
        return _by_position(function, calling, keywords)
    return functools.partial(function, **keywords) if keywords else function


def _source_of_noise(randomness: Randomness, generator: np.random.Generator) -> Any:
    # These come from the batch's generator; execute/seeds.py alone starts new streams.
    match randomness:
        case Randomness.RANDOM_STATE:
            return np.random.RandomState(generator.bit_generator)
        case Randomness.RANDOM:
            return random.Random(int.from_bytes(generator.bytes(32), "little"))
        case _:
            return generator


def _seeds(generator: np.random.Generator, at_once: int) -> Iterator[int]:
    while True:
        yield from generator.integers(_SEEDS, size=at_once).tolist()


def _seeded(
    function: Callable[..., Any], calling: Calling, keywords: dict[str, Any], seeds: Iterator[int]
) -> Callable[[Any], Any]:
    name = calling.rng_name
    assert name is not None

    def call(given: Any) -> Any:
        seeded = {**keywords, name: next(seeds)}
        return _by_position(function, calling, seeded)(given) if calling.in_order else function(given, **seeded)

    return call


def _by_position(function: Callable[..., Any], calling: Calling, keywords: dict[str, Any]) -> Callable[[Any], Any]:
    named = dict(keywords)
    after = [named.pop(name) if name in named else calling.others[name].default for name in calling.in_order]
    return lambda given: function(given, *after, **named)


# --- for messages ------------------------------------------------------------------------------------------------


def name_of(function: object) -> str:
    """What a function, class or instance is called."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


def where(function: object) -> str | None:
    """The file and line of a function's or class's definition."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return str(Place(code.co_filename, code.co_firstlineno)) if code is not None else None


def shown(function: Callable[..., Any], parameter: str | None = None, note: str = "") -> Excerpt | None:
    """The head of a function, with one of its parameters underlined."""
    try:
        head = f"def {name_of(function)}{inspect.signature(function)}"
    except (TypeError, ValueError):
        return None
    found = re.search(rf"\b{re.escape(parameter)}\b", head[head.index("(") :]) if parameter else None
    start = head.index("(") + found.start() if found else 0
    return Excerpt(head, start, start + len(parameter) if parameter else len(head), note)
