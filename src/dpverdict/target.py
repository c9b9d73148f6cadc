"""Finding the mechanism that a TARGET names.

``catalog:NAME``            an entry of the catalogue
``package.module:name``     a name in an importable module
``path/file.py:name``       a name in a Python file
``path/file.dip``           a program in DiPC's language, docs/dip-language.md
``samples:A,B``             recorded outputs on an input and on its neighbour (`load_runnable` only)
``exec:COMMAND``            a program of any language, docs/executables.md (`load_runnable` only)
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from dpverdict.catalog import Entry, find
from dpverdict.errors import Excerpt, RunError, TargetError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import BlackBox, Options
from dpverdict.mechanism.dip_language.program_file import mechanism_from_file
from dpverdict.mechanism.executable import SCHEME, load_executable
from dpverdict.mechanism.forms import black_box
from dpverdict.mechanism.loading import FORMS, is_path, module_by_name, module_from_file
from dpverdict.mechanism.recorded import SAMPLES, load_samples
from dpverdict.mechanism.source import DIP, source_of

CATALOG = "catalog:"


def load(target: str) -> Mechanism:
    """The mechanism that a TARGET names.

    Runs the module or file that it names; whatever that prints goes where it prints.  Raises TargetError, and
    UntraceableError for an entry of the catalogue that can only be run.
    """
    if target.startswith((SAMPLES, SCHEME)):
        raise _only_to_run(target)
    entry = entry_of(target)
    if entry is not None:
        if not isinstance(entry.mechanism, Mechanism):
            raise entry.why_no_program()
        return entry.mechanism
    if _is_program_file(target):
        return mechanism_from_file(target)
    name, found = _named(target)
    return _as_mechanism(target, name, found)


def load_runnable(
    target: str, options: Options | None = None, given: Mapping[str, Any] | None = None
) -> Mechanism | BlackBox:
    """What a TARGET names, if it can be run: a mechanism, or a black box with these options and arguments.

    A function over `noise` is a mechanism; docs/black-boxes.md has the rules for everything else.  Raises
    `TargetError`, `RunError`, `SamplesError` and `ExecutableError`.
    """
    if target.startswith(SAMPLES):
        return load_samples(target)
    if target.startswith(SCHEME):
        return load_executable(target, options, given)
    entry = entry_of(target)
    if entry is not None:
        known = entry.mechanism
        return known if isinstance(known, Mechanism) else known.with_options(options).with_arguments(given)
    if _is_program_file(target):
        return mechanism_from_file(target)
    name, found = _named(target)
    if isinstance(found, Mechanism) or _takes_noise(found):
        return _as_mechanism(target, name, found)
    try:
        return black_box(found, options, given, source_of(found, target))
    except RunError as error:
        error.place = ", ".join(part for part in (target, error.place) if part)
        raise


def runnable(found: Any, given: Mapping[str, Any] | None = None) -> Mechanism | BlackBox:
    """What a Python object is, if it can be run: the rules of `load_runnable` for what has no TARGET."""
    if isinstance(found, Mechanism | BlackBox):
        return found
    return Mechanism(found) if _takes_noise(found) else black_box(found, None, given)


def _is_program_file(target: str) -> bool:
    """Whether it is a `.dip` file, which is all of a target."""
    file, colon, _ = target.partition(f"{DIP}:")
    if colon:
        raise TargetError(
            "TARGET-015",
            "a .dip file has no names in it",
            excerpt=Excerpt(target, len(file) + len(DIP), len(target), "nothing can be named here"),
            why="the file is one program",
            fix=f"{file}{DIP}",
        )
    return target.endswith(DIP)


def _only_to_run(target: str) -> TargetError:
    scheme = target[: target.index(":") + 1]
    return TargetError(
        "TARGET-014",
        "this target can be run, but not looked into",
        excerpt=Excerpt(target, 0, len(scheme), f"{scheme} has outcomes only"),
        why="only a Python function over a noise source, or a .dip file, can become a program",
        fix="dpverdict sample, which runs it; or path/file.py:name",
    )


def entry_of(target: str) -> Entry | None:
    """The catalogue entry that a TARGET names, None if it names something else."""
    if not target.startswith(CATALOG):
        return None
    name = target.removeprefix(CATALOG)
    try:
        return find(name)
    except TargetError as error:
        error.excerpt = Excerpt(target, len(CATALOG), len(target), f"got {name!r}" if name else "no name here")
        raise


def split(target: str) -> tuple[str, str]:
    """Where a TARGET looks, and for which name; they meet at the last colon (``C:\\x.py`` alone has no name)."""
    source, colon, name = target.rpartition(":")
    if not colon or "/" in name or "\\" in name:
        raise _no_name(target)
    if not source:
        raise TargetError(
            "TARGET-002",
            "a target says where to look before its colon",
            excerpt=Excerpt(target, 0, 1, "nothing before the colon"),
            why=f"a target is {FORMS}",
            fix=f"path/file.py:{name or 'name'}",
        )
    if not name.isidentifier():
        got = f"got {name!r}" if name else "nothing after the colon"
        raise TargetError(
            "TARGET-003",
            "a target ends with the name of a mechanism",
            excerpt=Excerpt(target, len(source) + 1, len(target), got),
            why="a mechanism is found by the Python name that its file gives it",
            fix=_with_any_name(source),
        )
    return source, name


def _no_name(target: str) -> TargetError:
    if is_path(target):
        return TargetError(
            "TARGET-001",
            "a target ends with a colon and the name of a mechanism",
            excerpt=Excerpt(target, len(target), len(target) + 1, "no name here"),
            why="a file may hold several mechanisms",
            fix=_with_any_name(target),
        )
    return TargetError(
        "TARGET-001",
        "a target has a colon",
        excerpt=Excerpt(target, 0, len(target), f"got {target!r}"),
        why=f"a target is {FORMS}",
        fix=f"{CATALOG}{target}  (dpverdict catalog lists the names)",
    )


# --- names -----------------------------------------------------------------------------------------------------


def _named(target: str) -> tuple[str, object]:
    """The name in a TARGET, and what has it."""
    source, name = split(target)
    module = module_from_file(target, source) if is_path(source) else module_by_name(target, source)
    return name, _member(target, module, name)


def _member(target: str, module: ModuleType, name: str) -> object:
    try:
        return getattr(module, name)
    except AttributeError:
        pass
    names = [other for other, item in vars(module).items() if isinstance(item, Mechanism) or _takes_noise(item)]
    near = difflib.get_close_matches(name, names, n=1) or names[:1]
    source = target.rpartition(":")[0]
    raise TargetError(
        "TARGET-013",
        f"there is no {name!r} in {source}",
        excerpt=Excerpt(target, len(source) + 1, len(target), f"got {name!r}"),
        why=f"the mechanisms there are {', '.join(names)}" if names else "there is no mechanism there at all",
        fix=f"{source}:{near[0]}" if near else "define one: @mechanism above a function def name(noise, input)",
    )


def _as_mechanism(target: str, name: str, found: object) -> Mechanism:
    if isinstance(found, Mechanism):
        return found
    source = target.rpartition(":")[0]
    excerpt = Excerpt(target, len(source) + 1, len(target), f"a {type(found).__name__}")
    if not callable(found):
        raise TargetError(
            "TARGET-011",
            f"{name!r} is not a mechanism",
            excerpt=excerpt,
            why="a mechanism is a function over a noise source, and this cannot be called",
            fix=_with_any_name(source),
        )
    if not _takes_noise(found):
        raise TargetError(
            "TARGET-012",
            f"{name!r} does not take a noise source",
            excerpt=excerpt,
            why=f"the first parameter of a mechanism is called noise, here it is {_parameters(found)}",
            fix=f"def {name}(noise, input), drawing everything random from noise: noise.laplace(scale=1)",
        )
    return Mechanism(found)


def _takes_noise(found: object) -> bool:
    return inspect.isfunction(found) and next(iter(_signature(found)), None) == "noise"


def _signature(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def _parameters(found: Callable[..., Any]) -> str:
    if inspect.isclass(found):
        return "a class"
    names = _signature(found)
    return repr(names[0]) if names else "missing"


def _with_any_name(source: str) -> str:
    """The target with a name that its file really has, found without running the file."""
    path = Path(source)
    if path.suffix == ".py" and path.is_file():
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            return f"{source}:name"
        for item in tree.body:
            if isinstance(item, ast.FunctionDef) and item.args.args and item.args.args[0].arg == "noise":
                return f"{source}:{item.name}"
    return f"{source}:name"
