"""What is looked at in an output: ``--observe module:function`` maps it to plain values before it is counted.

This is post-processing, so a violation that shows in what is observed is one of the mechanism.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpverdict.errors import DPVerdictError, Excerpt, RunError, TargetError, said_by
from dpverdict.mechanism.calling import Form, declared_as, name_of, refuse_async, where
from dpverdict.mechanism.failures import last_place, lines_of
from dpverdict.mechanism.outcome import repr_of
from dpverdict.mechanism.source import Source, source_of


@dataclass(frozen=True, slots=True)
class Observer:
    """A function of an output, or, declared as @vectorised, of the whole result of a vectorised function."""

    function: Callable[[Any], Any]
    of_batches: bool
    source: Source

    def __call__(self, output: Any) -> Any:
        """What is observed.  Raises `RunError` if the function raises: that is no outcome of the mechanism."""
        try:
            return self.function(output)
        except DPVerdictError:
            raise
        except Exception as error:
            raise self._failed(output, error) from error

    def _failed(self, output: Any, error: Exception) -> RunError:
        failed = RunError(
            "RUN-031",
            f"{name_of(self.function)}, which observes outputs, raised {said_by(error)}",
            place=f"{last_place(error)}, observing {repr_of(output, 60)}",
            why="an exception here is not one of the mechanism, so it is not counted as an outcome",
            fix="return a value for every output, None for what is not to be looked at",
        )
        failed.traceback = lines_of(error)
        return failed


def observer(given: str | Callable[[Any], Any] | None) -> Observer | None:
    """The observer that a function or a reference to one (``module:function``) makes.  Raises `TargetError`."""
    if given is None or isinstance(given, Observer):
        return given
    if not isinstance(given, str):
        return _checked(given, source_of(given))
    if not given.rpartition(":")[0] or not given.rpartition(":")[2].isidentifier():
        raise TargetError(
            "TARGET-021",
            "an observer is named by its module and its name",
            excerpt=Excerpt(f"--observe {given}", 10, 10 + max(1, len(given)), f"got {given!r}"),
            why="it is found like a mechanism, but there is no catalogue of observers",
            fix="--observe package.module:function, or --observe path/file.py:function",
        )
    found = Source(given, None).found_or_none()
    if found is None:
        module, _, name = given.rpartition(":")
        raise TargetError(
            "TARGET-022",
            f"there is no {name!r} in {module}",
            excerpt=Excerpt(f"--observe {given}", 10, 10 + len(given)),
            why="what to observe in an output is said by a function that is defined there",
            fix=f"def {name}(output): … in {module}",
        )
    return _checked(found, source_of(found, given))


def observer_from(source: Source) -> Observer:
    """The same observer in another process."""
    return _checked(source.found(), source)


def _checked(found: Any, source: Source) -> Observer:
    if not callable(found) or inspect.isclass(found):
        raise TargetError(
            "TARGET-023",
            f"{source.reference or name_of(found)!r} observes nothing: it is {_kind(found)}",
            place=where(found),
            why="an observer is a function of one output",
            fix="def observe(output): return …",
        )
    refuse_async(found)
    declared = declared_as(found)
    return Observer(found, declared is not None and declared.form is Form.VECTORISED, source)


def _kind(found: Any) -> str:
    return "a class" if inspect.isclass(found) else f"a {type(found).__name__}"
