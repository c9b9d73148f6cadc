"""Objects that a claim names: ``package.module:name`` or ``path/file.py:name``."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpverdict.claim.written import Written, nearest
from dpverdict.errors import said_by

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


def named_object(written: Written) -> Any:
    """The object that is named.  Runs its module; raises ClaimError that points at what cannot be found."""
    at = written.text.rfind(":")
    source, name = written.part(0, at).stripped(), written.part(at + 1).stripped()
    if not source.text or not name.text.isidentifier():
        raise (name if source.text else source).error(
            "CLAIM-030",
            "an object is named by its module and its name",
            why="it is found as module:name or path/file.py:name",
            fix=written.instead("package.module:name"),
        )
    module = _module(source)
    try:
        return getattr(module, name.text)
    except AttributeError:
        near = nearest(name.text, (other for other in vars(module) if not other.startswith("_")))
        raise name.error(
            "CLAIM-033",
            f"there is no {name.text!r} in {source.text}",
            why="the module was found, but it does not define this name",
            fix=name.instead(near or "name"),
        ) from None


def _module(source: Written) -> ModuleType:
    text = source.text
    is_path = text.endswith(".py") or "/" in text or "\\" in text
    if is_path and not Path(text).is_file():
        raise source.error(
            "CLAIM-031",
            "no such file",
            why=f"there is no such file seen from {Path.cwd()}",
            fix="a path that exists, from this folder or absolute",
        )
    if not is_path and not all(part.isidentifier() for part in text.split(".")):
        raise source.error(
            "CLAIM-032",
            "neither a module nor a Python file",
            why="an object is found as module:name or path/file.py:name",
            fix=source.instead("package.module"),
        )
    folder = Path(text).resolve().parent if is_path else Path.cwd()
    try:
        with _on_path(folder):
            return _from_file(Path(text)) if is_path else importlib.import_module(text)
    except (Exception, SystemExit) as error:
        missing = isinstance(error, ModuleNotFoundError) and f"{text}.".startswith(f"{error.name}.")
        raise source.error(
            "CLAIM-032" if missing else "CLAIM-034",
            f"no module named {text!r}" if missing else f"it cannot be imported: {said_by(error)}",
            why="it is neither installed here nor in this folder" if missing else "finding an object runs its module",
            fix="path/file.py:name, if it is a file; or install what has it" if missing else "make it importable first",
        ) from error


def _from_file(path: Path) -> ModuleType:
    # A private name: the file must not shadow, or be shadowed by, a module of the same name.
    name = f"_dpverdict_claim_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} does not end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _on_path(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        # The module may have taken it out itself.
        with suppress(ValueError):
            sys.path.remove(str(folder))
