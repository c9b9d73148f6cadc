"""What a vectorised function returned, as one outcome per run."""

from __future__ import annotations

import contextlib
import sys
from collections import abc
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpverdict.errors import OutputError
from dpverdict.mechanism.outcome import array_like, freeze, repr_of
from dpverdict.mechanism.tally import Array, Outcomes, from_array


def outcomes(result: Any, runs: int, *, shared: bool = True) -> Outcomes:
    """The outcomes of a batch; `shared` arrays are copied, since the function may overwrite them later.

    Raises `OutputError` if this is not one output per run.
    """
    rows = rows_of(result, runs)
    if not isinstance(rows, np.ndarray):
        return list(freeze(list(rows)))  # type: ignore[arg-type]
    kept = from_array(rows)
    if isinstance(kept, np.ndarray):
        if shared and np.may_share_memory(kept, rows):
            kept = kept.copy()
        kept.flags.writeable = False
    return kept


def rows_of(result: Any, runs: int) -> Sequence[Any] | Array:
    """The outputs of a batch, as an array or a list.  Raises `OutputError` if they are not as many as the runs."""
    ready = isinstance(result, np.ndarray | list | tuple)
    rows: Sequence[Any] | Array = result if ready else _converted(result, runs)
    if isinstance(rows, np.ndarray) and rows.ndim == 0:
        raise _no_rows(result, runs, "it is a single number")
    if len(rows) != runs:
        raise _wrong_count(rows, runs)
    return rows


def _converted(result: Any, runs: int) -> Sequence[Any] | Array:
    if result is None:
        raise _no_rows(result, runs, "it returned nothing: is there a return at its end?")
    convert = array_like(result) if not isinstance(result, np.generic) else None
    rows: Any = None
    if convert is not None:
        with contextlib.suppress(Exception):
            rows = convert()
    if isinstance(rows, np.ndarray):
        return np.asarray(rows)
    if isinstance(rows, list):
        return list(rows)
    if isinstance(result, abc.Sequence) and not isinstance(result, str | bytes | bytearray):
        return list(result)
    if isinstance(result, abc.Mapping):
        raise _no_rows(
            result, runs, "it is one dictionary, not one for each run", "a list of dictionaries, or an array"
        )
    if isinstance(result, abc.Iterator | abc.Coroutine | abc.AsyncIterator):
        raise _no_rows(result, runs, "nothing has been computed yet", "return list(…), or asyncio.run(…)")
    raise _no_rows(result, runs, "it is a single value")


def _no_rows(result: Any, runs: int, why: str, fix: str = "return an array with one row per run") -> OutputError:
    return OutputError(
        "OUTPUT-011",
        f"a vectorised function returns one output per row, here it returned a {type(result).__name__}",
        place=f"got {repr_of(result, 80)} for {runs:,} runs",
        why=why,
        fix=f"{fix}; or declare it with @single_run, if one call is one run",
    )


def _wrong_count(rows: Sequence[Any] | Array, runs: int) -> OutputError:
    shape = f"an array of shape {rows.shape}" if isinstance(rows, np.ndarray) else f"a {type(rows).__name__}"
    lengths = {len(item) for item in rows if isinstance(item, abc.Sized)} if len(rows) <= 64 else set()
    sideways = lengths == {runs}
    return OutputError(
        "OUTPUT-010",
        f"{len(rows):,} outputs for {runs:,} runs",
        place=f"got {shape}",
        why="its columns are outputs of all runs, its rows are not" if sideways else "there is one output for each run",
        fix="numpy.column_stack(columns), which has one row per run"
        if sideways
        else "numpy.array of as many rows as it is asked for; or @single_run, if one call is one run",
    )


@contextlib.contextmanager
def located(name: str, place: str | None) -> Iterator[None]:
    """Say in an `OutputError` whose output it was."""
    try:
        yield
    except OutputError as error:
        error.place = ", ".join(part for part in (error.place, f"from {name}", place) if part)
        raise


# --- is this array anybody else's? -------------------------------------------------------------------------------


def _references_to_base(array: Array) -> int:
    base = array.base
    return sys.getrefcount(base)


def references_to_fresh() -> int:
    """How many references an array has that a call has just returned and nobody keeps, as `sys.getrefcount` says."""
    result = np.empty(1)
    return sys.getrefcount(result)


_FRESH = references_to_fresh()
_FRESH_BASE = _references_to_base(np.empty(2).reshape(2, 1))


def is_shared(result: Any, references: int) -> bool:
    """Whether a function may still hold the array that it returned, or the memory behind it.

    Copying 80 MB takes longer than everything else that is done here to a batch, so fresh arrays are not copied.
    """
    if type(result) is not np.ndarray or references > _FRESH:
        return True
    if result.base is None:
        return not result.flags.owndata
    base = result.base
    if type(base) is not np.ndarray or base.base is not None or not base.flags.owndata:
        return True
    del base
    return _references_to_base(result) > _FRESH_BASE
