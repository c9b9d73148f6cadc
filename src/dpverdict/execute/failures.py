"""What is said when work fails: the block, the seed, the line, and what would help."""

from __future__ import annotations

import os
import signal
import traceback
from dataclasses import dataclass
from typing import Any

from dpverdict.errors import DPVerdictError, ExecutionError, UsageError
from dpverdict.execute.job import Block, Job


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception in work, as text, so that it can come from another process."""

    exception: str
    text: str
    where: str
    traceback: str
    known: DPVerdictError | None = None
    """The exception itself, if it is one that dpverdict shows."""


def describe(error: BaseException) -> Raised:
    """What there is to say about an exception; the first frame of its traceback is ours and is left out."""
    trace = error.__traceback__.tb_next if error.__traceback__ else None
    frames = traceback.extract_tb(trace)
    where = f"{frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name}" if frames else ""
    written = "".join(traceback.format_exception(type(error), error, trace))
    return Raised(
        type(error).__name__, _text_of(error), where, written, error if isinstance(error, DPVerdictError) else None
    )


def failure(block: Block, raised: Raised) -> DPVerdictError:
    """The error for an exception in work; one of dpverdict's own is shown as it is."""
    if raised.known is not None:
        raised.known.add_note(f"in {block}\n{raised.traceback}")
        return raised.known
    error = ExecutionError(
        "RUN-001",
        f"{block} raised {raised.exception}: {raised.text}".rstrip(": "),
        place=raised.where or None,
        why="a block that fails cannot be left out: the counts would be biased",
        fix="mend the work, or make the exception one of its outcomes; the same seed and block raise it again",
    )
    error.add_note(raised.traceback)
    return _located(error, block, raised.traceback)


def overdue(block: Block, seconds: float) -> ExecutionError:
    """The error for a block that exceeds its time limit."""
    error = ExecutionError(
        "RUN-002",
        f"{block} did not finish within {seconds:g} seconds",
        place=f"its {block.runs} runs, from run {block.start} on; the worker was killed",
        why="the same seed would hang again, so the block is not redone",
        fix="a longer limit, smaller blocks, or a time-out inside the work that counts as an outcome",
    )
    return _located(error, block)


def dead(block: Block, status: int | None, times: int) -> ExecutionError:
    """The error for a block whose worker dies every time."""
    error = ExecutionError(
        "RUN-003",
        f"{block} ended its worker {times} times, the last time by {_exit(status)}",
        place=f"its {block.runs} runs, from run {block.start} on",
        why="the work, or something outside like the system's out-of-memory killer, ends the whole process",
        fix="run the work for this block alone under a debugger; fewer workers or smaller blocks need less memory",
    )
    return _located(error, block)


def not_loaded(block: Block, raised: Raised) -> ExecutionError:
    """The error for work that a worker cannot load."""
    error = ExecutionError(
        "RUN-004",
        f"a worker cannot load the work of {block.job!r}: {raised.exception}: {raised.text}",
        place=raised.where or None,
        why="a worker is a fresh Python process that imports the work by its module and name",
        fix="put the work into a module that can be imported, or use threads",
    )
    error.add_note(raised.traceback)
    return _located(error, block, raised.traceback)


def not_started(reason: str) -> ExecutionError:
    """The error for a worker process that cannot be started."""
    return ExecutionError(
        "RUN-005",
        f"a worker process cannot be started: {reason}",
        why="each worker is a Python process of its own",
        fix="fewer workers, or free memory and processes",
    )


def unpicklable(job: Job[Any], reason: str) -> UsageError:
    """The error for work that cannot be sent to another process."""
    return UsageError(
        "USAGE-105",
        f"the work of {job.name!r} cannot be sent to worker processes: {reason}",
        why="a worker process gets its work by module and name",
        fix="define it at the top level of a module, or use threads",
    )


def unlimited(job: Job[Any]) -> UsageError:
    """The error for a time limit that cannot be kept."""
    return UsageError(
        "USAGE-106",
        f"threads cannot keep a time limit of {job.seconds_per_block:g} seconds for a block",
        place=f"job {job.name!r}",
        why="a thread that hangs cannot be ended, only a process can",
        fix="worker processes, or no time limit",
    )


def closed(job: Job[Any]) -> UsageError:
    """The error for a job that comes after the workers have been ended."""
    return UsageError(
        "USAGE-110",
        f"{job.name!r} came to an executor that has been closed",
        why="its worker processes ended when its `with` block was left",
        fix="run everything inside the `with` block, or make another executor",
    )


def _located(error: ExecutionError, block: Block, remote_traceback: str = "") -> ExecutionError:
    error.block = block
    error.remote_traceback = remote_traceback
    return error


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (an exception that cannot even be shown must not hide where it happened)
        return "(its text cannot be shown)"


def _exit(status: int | None) -> str:
    if status is None:
        return "an unknown cause"
    if status >= 0 or os.name == "nt":
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"
