"""Finding the mechanism that a TARGET names.

``catalog:NAME``            an entry of the catalogue
``package.module:name``     a name in an importable module
``path/file.py:name``       a name in a Python file
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from dpverdict.catalog import Entry, find
from dpverdict.errors import Excerpt, TargetError
from dpverdict.mechanism import Mechanism

CATALOG = "catalog:"
FORMS = "catalog:NAME, package.module:name or path/file.py:name"


def load(target: str) -> Mechanism:
    """The mechanism that a TARGET names.

    Runs the module or file that it names; whatever that prints goes where it prints.  Raises TargetError.
    """
    entry = entry_of(target)
    if entry is not None:
        return entry.mechanism
    source, name = split(target)
    module = _module_from_file(target, source) if _is_path(source) else _module_by_name(target, source)
    return _as_mechanism(target, name, _member(target, module, name))


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
    if _is_path(target):
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


def _is_path(source: str) -> bool:
    return "/" in source or "\\" in source or source.endswith(".py")


# --- modules ---------------------------------------------------------------------------------------------------


def _module_from_file(target: str, source: str) -> ModuleType:
    path = _checked_path(target, source)
    # A private name: the file must not shadow, or be shadowed by, a module of the same name.
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"_dpverdict_target_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _on_path(path.resolve().parent), _import_errors(target):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _module_by_name(target: str, source: str) -> ModuleType:
    if not all(part.isidentifier() for part in source.split(".")):
        raise TargetError(
            "TARGET-004",
            f"{source!r} is neither a module nor a Python file",
            excerpt=Excerpt(target, 0, len(source)),
            why=f"a target is {FORMS}",
            fix="package.module:name",
        )
    with _on_path(Path.cwd()), _import_errors(target):
        try:
            return importlib.import_module(source)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{source}.".startswith(f"{error.name}."):
                raise
            raise _no_module(target, source, error.name) from None


def _no_module(target: str, source: str, missing: str) -> TargetError:
    file = Path(*source.split(".")).with_suffix(".py")
    name = target.rpartition(":")[2]
    catalogued = f"{CATALOG}{name}" if difflib.get_close_matches(source.lower(), ["catalog"]) else None
    return TargetError(
        "TARGET-005",
        f"no module named {missing!r}",
        excerpt=Excerpt(target, 0, len(missing), f"got {missing!r}"),
        why="it is neither installed here nor in this folder",
        fix=catalogued or f"{file.as_posix()}:{name}, if it is a file; or install the package that has it",
    )


def _checked_path(target: str, source: str) -> Path:
    path = Path(source)
    if not path.exists():
        folder = path.parent
        near = difflib.get_close_matches(path.name, [item.name for item in _python_files(folder)], n=1)
        raise TargetError(
            "TARGET-006",
            "no such file",
            excerpt=Excerpt(target, 0, len(source), f"got {source!r}"),
            why=f"there is no such file{'' if folder.is_dir() else ', nor its folder,'} seen from {Path.cwd()}",
            fix=f"{target.replace(path.name, near[0])}" if near else "a path that exists, from this folder or absolute",
        )
    if path.is_dir() or path.suffix != ".py":
        raise TargetError(
            "TARGET-007",
            "not a Python file",
            excerpt=Excerpt(target, 0, len(source), "a folder" if path.is_dir() else f"ends in {path.suffix!r}"),
            why="a mechanism is read from a file that ends in .py",
            fix=f"path/file.py:{target.rpartition(':')[2]}",
        )
    return path


def _python_files(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob("*.py")) if folder.is_dir() else ()


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    """Let a file import its neighbours, as when Python runs it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


@contextmanager
def _import_errors(target: str) -> Iterator[None]:
    """Say what went wrong in somebody else's module, and where, without a traceback of ours."""
    try:
        yield
    except TargetError:
        raise
    except SyntaxError as error:
        raise _syntax_error(error) from None
    except (Exception, SystemExit) as error:
        raise _import_error(target, error) from error


def _syntax_error(error: SyntaxError) -> TargetError:
    line = (error.text or "").rstrip()
    indent = len(line) - len(line.lstrip())
    start = max(0, (error.offset or 1) - 1 - indent)
    on_one_line = error.end_lineno == error.lineno and error.end_offset is not None
    end = error.end_offset - 1 - indent if on_one_line and error.end_offset is not None else start + 1
    return TargetError(
        "TARGET-008",
        f"the file is not valid Python: {error.msg}",
        place=f"{error.filename}, line {error.lineno}",
        excerpt=Excerpt(line.lstrip(), start, max(end, start + 1)) if line else None,
        why="Python cannot read the file, so nothing in it can be found",
        fix=f"correct line {error.lineno} and run the command again",
    )


def _import_error(target: str, error: BaseException) -> TargetError:
    # The innermost line outside the import machinery is the one that its author can change.
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "importlib" not in frame.filename
    ]
    line = (frames[-1].line or "") if frames else ""
    message = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, ModuleNotFoundError):
        fix = f"install {error.name!r} in the environment that runs dpverdict"
    elif isinstance(error, SystemExit):
        fix = "put what the file does when it is run under: if __name__ == '__main__':"
    else:
        fix = f"make it importable first: {_import_command(target.rpartition(':')[0])}"
    return TargetError(
        "TARGET-009",
        f"the module cannot be imported: {message}",
        place=f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else None,
        excerpt=Excerpt(line, 0, len(line)) if line else None,
        why="looking for a mechanism runs its module, and that failed",
        fix=fix,
    )


def _import_command(source: str) -> str:
    return f"python {source}" if _is_path(source) else f"python -c 'import {source}'"


# --- names -----------------------------------------------------------------------------------------------------


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
