"""Where a function comes from: the name under which another process finds it, and the hash of its source."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from dpverdict.errors import Excerpt, TargetError
from dpverdict.mechanism.explored import Explored
from dpverdict.mechanism.loading import file_sha256, is_path, known_sha256, module_by_name, module_from_file

DIP = ".dip"
"""How the names of files in DiPC's language end."""


@dataclass(frozen=True, slots=True)
class Source:
    """`reference` is ``package.module:name``, ``path/file.py:name`` or ``file.dip``, None for what has no name.

    `sha256` is that of the whole file, since a function may call others in it; None where there is no source text.
    A relative path is seen from `folder`.
    """

    reference: str | None
    sha256: str | None
    folder: str = ""

    def found_or_none(self) -> Any:
        """What the reference names in its module, None if that has no such name.  Raises `TargetError`."""
        assert self.reference is not None
        if self.reference.endswith(DIP):
            from dpverdict.mechanism.dip_language.program_file import mechanism_from_file  # it knows sources

            return mechanism_from_file(Path(self.folder, self.reference))
        source, _, name = self.reference.rpartition(":")
        if is_path(source):
            path = str(Path(self.folder, source))
            return getattr(module_from_file(f"{path}:{name}", path, loaded=True), name, None)
        return getattr(module_by_name(self.reference, source, self.folder or None), name, None)

    def found(self) -> Any:
        """What the reference names.  Raises `TargetError`, also if the source has changed since this was made."""
        found = self.found_or_none()
        if found is None:
            raise self._error("TARGET-031", "it is not there any more", "it was there when the job was made")
        if self.sha256 is not None and source_of(found).sha256 != self.sha256:
            why = "all runs of a job have to be runs of the same mechanism"
            raise self._error("TARGET-032", "the source has changed since the job was made", why)
        return found

    def _error(self, code: str, message: str, why: str) -> TargetError:
        text = self.reference or ""
        return TargetError(code, message, excerpt=Excerpt(text, 0, len(text)), why=why, fix="start the job anew")


def source_of(found: object, reference: str | None = None) -> Source:
    """Where a function, class or instance comes from; `reference` is the name that it was loaded by."""
    inner = inspect.unwrap(found) if callable(found) else found
    if isinstance(inner, Explored):
        return inner.source
    return Source(reference or _reference_to(found), _sha256(found), str(Path.cwd()))


def _sha256(found: object) -> str | None:
    code = _with_source(found)
    module = inspect.getmodule(code)
    if module is not None and (known := known_sha256(module)) is not None:
        return known
    try:
        file = inspect.getsourcefile(code)  # type: ignore[arg-type]
        return None if file is None else file_sha256(Path(file))
    except (TypeError, OSError):
        return None


def _with_source(found: object) -> object:
    """The function or class whose text says what happens."""
    inner = found
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(inner) if callable(inner) else inner
    return inner if inspect.isroutine(inner) or inspect.isclass(inner) else type(inner)


def _reference_to(found: object) -> str | None:
    module = sys.modules.get(str(getattr(found, "__module__", None)))
    if module is None:
        return None
    name = next(_names(found, module), None)
    place = _place(module)
    return None if name is None or place is None else f"{place}:{name}"


def _names(found: object, module: ModuleType) -> Iterator[str]:
    """The names by which a module holds it, its own one first."""
    own = getattr(found, "__name__", "")
    if own.isidentifier() and vars(module).get(own) is found:
        yield own
    yield from (name for name, item in vars(module).items() if item is found and name.isidentifier())


def _place(module: ModuleType) -> str | None:
    """The module's name where any process finds it by that, else its file."""
    spec = getattr(module, "__spec__", None)
    name = spec.name if spec is not None else module.__name__  # __main__ has its real name there
    file = getattr(module, "__file__", None)
    if file is None or not str(file).endswith(".py"):
        return None
    inside = Path(*name.split("."))
    for folder in sys.path:
        if Path(folder, inside).with_suffix(".py") == Path(file) or Path(folder, inside, "__init__.py") == Path(file):
            return name
    return str(file)
