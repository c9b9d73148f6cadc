"""Importing the module or file that a name stands in, with errors that say what is wrong and where."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from dpverdict.errors import DPVerdictError, Excerpt, TargetError, said_by
from dpverdict.mechanism.failures import last_place

FORMS = "catalog:NAME, package.module:name, path/file.py:name, file.dip, exec:COMMAND or samples:A,B"

_PRIVATE = "_dpverdict_target_"
_SHA256 = "__dpverdict_sha256__"


def is_path(source: str) -> bool:
    """Whether a source names a file, not a module."""
    return "/" in source or "\\" in source or source.endswith(".py")


def module_from_file(target: str, source: str, *, loaded: bool = False) -> ModuleType:
    """The module that a Python file makes; with `loaded`, one that it made before if it has not changed since.

    Raises `TargetError`.
    """
    path = _checked_path(target, source)
    # A private name: the file must not shadow, or be shadowed by, a module of the same name.
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]
    name = f"{_PRIVATE}{digest}"
    sha256 = file_sha256(path)
    if loaded and getattr(sys.modules.get(name), _SHA256, None) == sha256:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    setattr(module, _SHA256, sha256)
    sys.modules[name] = module
    try:
        with _on_path(path.resolve().parent), _import_errors(target):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def file_sha256(path: Path) -> str:
    """The SHA-256 of a text file, the same whatever its line ends are."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def known_sha256(module: ModuleType) -> str | None:
    """The SHA-256 of the file that a module was made from, if that was done here."""
    return getattr(module, _SHA256, None)


def module_by_name(target: str, source: str, folder: str | None = None) -> ModuleType:
    """The module of this name, installed or in the folder (this one, by default).  Raises `TargetError`."""
    if not all(part.isidentifier() for part in source.split(".")):
        raise TargetError(
            "TARGET-004",
            f"{source!r} is neither a module nor a Python file",
            excerpt=Excerpt(target, 0, len(source)),
            why=f"a target is {FORMS}",
            fix="package.module:name",
        )
    with _on_path(Path(folder or Path.cwd())), _import_errors(target):
        try:
            return importlib.import_module(source)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{source}.".startswith(f"{error.name}."):
                raise
            raise _no_module(target, source, error.name) from None


def _no_module(target: str, source: str, missing: str) -> TargetError:
    file = Path(*source.split(".")).with_suffix(".py")
    name = target.rpartition(":")[2]
    catalogued = f"catalog:{name}" if difflib.get_close_matches(source.lower(), ["catalog"]) else None
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
    except DPVerdictError as error:  # a mechanism that is declared wrongly, say: the error speaks for itself
        error.place = error.place or last_place(error)
        raise
    except SyntaxError as error:
        raise _syntax_error(error, target) from None
    except (Exception, SystemExit) as error:
        raise _import_error(target, error) from error


def _syntax_error(error: SyntaxError, target: str) -> TargetError:
    line = (error.text or "").rstrip()
    indent = len(line) - len(line.lstrip())
    start = max(0, (error.offset or 1) - 1 - indent)
    on_one_line = error.end_lineno == error.lineno and error.end_offset is not None
    end = error.end_offset - 1 - indent if on_one_line and error.end_offset is not None else start + 1
    at = f"line {error.lineno}" if error.lineno else None
    return TargetError(
        "TARGET-008",
        f"the file is not valid Python: {error.msg}",
        place=f"{error.filename}, {at}" if at else f"got {target}",
        excerpt=Excerpt(line.lstrip(), start, max(end, start + 1)) if line else None,
        why="Python cannot read the file, so nothing in it can be found",
        fix=f"correct {at} and run the command again" if at else "give a file of Python source",
    )


def _import_error(target: str, error: BaseException) -> TargetError:
    # The innermost line outside the import machinery is the one that its author can change.
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "importlib" not in frame.filename
    ]
    line = (frames[-1].line or "") if frames else ""
    message = said_by(error)
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
    return f"python {source}" if is_path(source) else f"python -c 'import {source}'"
