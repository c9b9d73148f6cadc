"""Everything that can stand for a mechanism in Python, and the rules by which it becomes one.

1. A `Mechanism` or a function over `noise` is a mechanism; a black box is one already.
2. A function declared with `@vectorised` or `@single_run` is a black box of that form.
3. A function without parameters, and a class that needs no arguments, is a factory: it is called once, and what it
   returns counts in its place.
4. Any other function is a black box of the form that its parameters show.
5. An instance is run by the method that is declared, else by `__call__`, else by the one of `run`, `release`,
   `randomise` and `randomize` that it has.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from dpverdict.errors import DPVerdictError, RunError, said_by
from dpverdict.mechanism.black_box import BlackBox, FunctionBox, Options
from dpverdict.mechanism.calling import declared_as, name_of, refuse_async, shown, where
from dpverdict.mechanism.failures import last_place, lines_of
from dpverdict.mechanism.front import Mechanism
from dpverdict.mechanism.outcome import repr_of
from dpverdict.mechanism.source import Source, source_of

METHODS = ("run", "release", "randomise", "randomize")


def black_box(
    found: Any,
    options: Options | None = None,
    given: Mapping[str, Any] | None = None,
    source: Source | None = None,
) -> BlackBox:
    """The black box that a function, class, instance, factory or mechanism is, with these arguments.

    Raises `RunError`, saying what was seen and how to declare it.
    """
    if isinstance(found, BlackBox):
        return found.with_arguments(given) if isinstance(found, FunctionBox) and given else found
    origin = source or source_of(found)
    name = origin.reference.rpartition(":")[2] if origin.reference else name_of(found)
    made = _made(found, name) if _is_factory(found) else found
    if isinstance(made, BlackBox):
        return made
    function = made.function if isinstance(made, Mechanism) else _function_of(made, name)
    epsilon = made.epsilon_name if isinstance(made, Mechanism) else None
    return FunctionBox(function, origin, options or Options(), dict(given or {}), name, epsilon)


def _is_factory(found: Any) -> bool:
    """Whether it takes no input but makes something that does."""
    if declared_as(found) is not None and not inspect.isclass(found):
        return False
    if inspect.isclass(found):
        return True
    if not inspect.isroutine(found) and not isinstance(found, functools.partial):
        return False
    refuse_async(found)
    try:
        return not inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False


def _made(factory: Callable[[], Any], name: str) -> Any:
    """What a factory makes, which has to be something to run."""
    if inspect.isclass(factory) and (missing := _required(factory)):
        raise RunError(
            "RUN-041",
            f"the class {name} cannot be made without {', '.join(missing)}",
            place=where(getattr(factory, "__init__", factory)),
            excerpt=shown(factory, missing[0]),
            why="a class is made without arguments, and the instance is run",
            fix=f"a function without parameters: def make(): return {name}({missing[0]}=…)",
        )
    try:
        made = factory()
    except DPVerdictError:
        raise
    except Exception as error:
        raise _factory_failed(name, error) from error
    if isinstance(made, Mechanism | BlackBox):
        return made
    if inspect.isclass(made) or _is_factory(made) or not (callable(made) or _methods(made)):
        raise RunError(
            "RUN-042",
            f"{name} takes no input, and what it returns cannot be run either",
            place=where(factory),
            excerpt=shown(factory),
            why=f"a function without parameters makes what is run: a function or instance, not {repr_of(made, 60)}",
            fix=f"def {name}(input, rng): … for a mechanism; or return a function of an input",
        )
    return made


def _required(found: type) -> list[str]:
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return []
    fixed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [item.name for item in parameters if item.kind in fixed and item.default is item.empty]


def _factory_failed(name: str, error: Exception) -> RunError:
    failed = RunError(
        "RUN-043",
        f"{name} makes no mechanism: it raised {said_by(error)}",
        place=last_place(error),
        why="a class, or a function without parameters, is called once to make what is run",
        fix=f"make {name}() work by itself first",
    )
    failed.traceback = lines_of(error)
    return failed


# --- instances ---------------------------------------------------------------------------------------------------


def _function_of(found: Any, name: str) -> Callable[..., Any]:
    """What is called for a run."""
    if inspect.isroutine(found) or isinstance(found, functools.partial) or declared_as(found) is not None:
        return found  # type: ignore[no-any-return]
    declared = [method for method in _public_methods(found) if declared_as(method) is not None]
    if len(declared) == 1:
        return declared[0]
    if not declared and callable(found):
        return found  # type: ignore[no-any-return]
    methods = declared or _methods(found)
    if len(methods) == 1:
        return methods[0]
    names = ", ".join(method.__name__ for method in methods)
    raise RunError(
        "RUN-044",
        f"{name} has {len(methods)} methods that could be run: {names}" if methods else f"{name} cannot be run",
        place=f"a {type(found).__name__}: {repr_of(found, 80)}",
        why="it could be any of them"
        if methods
        else f"it is no function, cannot be called and has no method {', '.join(METHODS)}",
        fix=f"def mine(input): return {name}.{methods[0].__name__ if methods else 'method'}(input)",
    )


def _methods(found: Any) -> list[Callable[..., Any]]:
    return [method for name in METHODS if callable(method := getattr(found, name, None))]


def _public_methods(found: Any) -> list[Callable[..., Any]]:
    # Read from the class, so that no property is computed.
    names = [name for name in dir(type(found)) if not name.startswith("_") and callable(getattr(type(found), name))]
    return [getattr(found, name) for name in names]
