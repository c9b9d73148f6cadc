"""What every executor must do, as checks that need no test framework.

For an executor of your own, with pytest::

    @pytest.mark.parametrize("workers", [1, 2, 4])
    @pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
    def test_conformance(check, workers, tmp_path):
        check(conformance.Trial(MyExecutor, workers, tmp_path))

A check raises AssertionError if the executor does not conform.  What an executor says that it cannot do, by its
`abilities`, is checked as well: that it refuses, or leaves alone, what the protocol says.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy

from dpverdict.errors import DPVerdictError, ExecutionError, InputError, Interrupted, UsageError
from dpverdict.execute import conformance_works as works
from dpverdict.execute.cancellation import Cancel
from dpverdict.execute.executor import Executor
from dpverdict.execute.job import Job, Work
from dpverdict.execute.progress import BlockDone, Event
from dpverdict.execute.record import Record
from dpverdict.execute.rounds import rounds
from dpverdict.execute.run import BLOCKS_PER_WORKER, Oversight, run

T = TypeVar("T")

_SEED = 20
_LIMIT = 0.5


@dataclass(frozen=True, slots=True)
class Trial:
    """An executor to be checked: how it is made for a number of workers, that number, and an empty folder."""

    make: Callable[[int], Executor]
    workers: int
    folder: Path


def blocks_come_in_order(trial: Trial) -> None:
    """Whatever ends first, the lowest number comes first, with the block that was asked for."""
    with trial.make(trial.workers) as executor:
        assert _results(executor, _job(works.Unlike(0.02), 12)) == _expected(works.count, 12)
        job = _job(works.identify, 3)
        given = [(b.job, b.phase, b.seed, b.number, b.start, b.runs) for b in map(job.block, range(3))]
        assert _results(executor, job) == given


def the_number_of_workers_changes_nothing(trial: Trial) -> None:
    """A block's result depends on (seed, job, phase, block number) alone."""
    for workers in {1, trial.workers, 3}:
        with trial.make(workers) as executor:
            assert _results(executor, _job(works.count, 9)) == _expected(works.count, 9)
    with trial.make(trial.workers) as executor:
        shuffled = [done.result for done in run(executor, _job(works.count, 9), (1, 4, 8))]
        assert shuffled == [_expected(works.count, 9)[number] for number in (1, 4, 8)]
        other = Job("conformance", works.count, _SEED, 100, 900, phase="another")
        assert not set(_results(executor, other)) & set(_expected(works.count, 9))


def back_pressure_holds(trial: Trial) -> None:
    """Whoever takes nothing makes the work stop; endless jobs need no end."""
    asked = 0

    def numbers() -> Iterator[int]:
        nonlocal asked
        for number in itertools.count():
            asked += 1
            yield number

    job = Job("conformance", works.Noting(trial.folder), _SEED, 10)
    with trial.make(trial.workers) as executor:
        results = run(executor, job, numbers())
        for taken in range(1, 8):
            next(results)
            time.sleep(0.01)
            assert asked <= taken + BLOCKS_PER_WORKER * trial.workers
            assert len(list(trial.folder.iterdir())) <= asked
        results.close()
        assert len(list(trial.folder.iterdir())) <= asked


def exceptions_name_their_block(trial: Trial) -> None:
    """What work raises comes with the traceback of where it ran, in its block's turn; nothing later comes."""
    with trial.make(trial.workers) as executor:
        for work, text in ((works.Raising(5), "planted in 5"), (works.Exiting(5), "SystemExit: planted")):
            taken, error = _until_error(executor, _job(work, 12))
            assert taken == [0, 1, 2, 3, 4], "a failure comes neither before its turn nor is it left out"
            assert isinstance(error, ExecutionError)
            assert error.block == _job(work, 12).block(5)
            assert text in str(error)
            assert "block 5" in str(error)
            assert f"seed {_SEED}" in str(error)
            assert "conformance_works" in error.remote_traceback
        _, known = _until_error(executor, _job(works.Complaining(2), 12))
        assert isinstance(known, InputError), "dpverdict's own errors are shown as they are"
        assert (known.code, known.message, known.why) == ("INPUT-000", "planted in 2", "to be seen")
        assert "block 2" in "".join(known.__notes__)
        _usable(executor)


def a_dead_worker_is_replaced(trial: Trial) -> None:
    """The block of a worker that dies is redone, with the same result; but not for ever."""
    with trial.make(trial.workers) as executor:
        if not executor.abilities.redoes_dead:
            return
        assert _results(executor, _job(works.Dying(trial.folder, 3, always=False), 8)) == _expected(works.count, 8)
        assert (trial.folder / "died").exists()
        taken, error = _until_error(executor, _job(works.Dying(trial.folder, 3, always=True), 8))
        assert len(taken) == 3
        assert isinstance(error, ExecutionError)
        assert all(part in str(error) for part in ("block 3", f"seed {_SEED}", "SIGKILL"))
        _usable(executor)


def time_limits_are_kept_or_refused(trial: Trial) -> None:
    """Work that hangs is ended and located, if that is possible; if not, a time limit is refused at once."""
    job = Job("conformance", works.Hanging(trial.folder, 2), _SEED, 100, 600, seconds_per_block=_LIMIT)
    with trial.make(trial.workers) as executor:
        taken, error = _until_error(executor, job)
        if executor.abilities.stops_work:
            assert taken == _expected(works.count, 6)[:2]
            assert isinstance(error, ExecutionError)
            assert all(part in str(error) for part in ("block 2", f"{_LIMIT:g} seconds"))
        else:
            assert taken == []
            assert isinstance(error, UsageError)
            assert not (trial.folder / "hanging").exists()
        _usable(executor)


def cancelling_leaves_a_state_to_resume(trial: Trial) -> None:
    """A token stops the work; the same call later gives the same results, and does nothing twice."""
    # More blocks than can be under way when the token is pulled.
    cancel, blocks = Cancel(), 6 + 2 * BLOCKS_PER_WORKER * trial.workers
    job = _job(works.Noting(trial.folder), blocks)
    with Record(trial.folder / "record") as record, trial.make(trial.workers) as executor:

        def stop(event: Event) -> None:
            if isinstance(event, BlockDone) and event.number == 4:
                cancel.request("a test")

        _, error = _until_error(executor, job, Oversight(record, cancel, stop))
        assert isinstance(error, Interrupted)
        assert error.resumable
        assert "a test" in str(error)
        recorded = record.finished(job)
        assert error.finished == len(recorded)
        assert {0, 1, 2, 3, 4} <= recorded < set(range(blocks))
        again = [done.result for done in run(executor, job, None, Oversight(record))]
        assert again == _expected(works.count, blocks)
    assert all((trial.folder / f"done-{number}-0").exists() for number in range(blocks))
    assert not any((trial.folder / f"done-{number}-1").exists() for number in recorded)


def cancelling_stops_work_that_hangs(trial: Trial) -> None:
    """What can be ended is ended at once, not when its block is over."""
    cancel = Cancel()
    with trial.make(trial.workers) as executor:
        if not executor.abilities.stops_work:
            return
        threading.Thread(target=_cancel_when, args=(trial.folder / "hanging", cancel)).start()
        job = _job(works.Hanging(trial.folder, 1), 6)
        _, error = _until_error(executor, job, Oversight(cancel=cancel))
        assert isinstance(error, Interrupted)
        assert not error.resumable
        _usable(executor)


def what_is_recorded_is_not_redone(trial: Trial) -> None:
    """A recorded block comes from the record, and the whole is what it would have been."""
    job = _job(works.Noting(trial.folder), 10)
    with Record(trial.folder / "record") as record, trial.make(trial.workers) as executor:
        list(run(executor, job, (0, 3, 4, 9), Oversight(record)))
        assert record.finished(job) == {0, 3, 4, 9}
    with Record(trial.folder / "record") as record, trial.make(trial.workers) as executor:
        assert _results(executor, job, Oversight(record)) == _expected(works.count, 10)
        assert _results(executor, job, Oversight(record)) == _expected(works.count, 10)
    assert sorted(path.name for path in trial.folder.glob("done-*")) == [f"done-{number}-0" for number in range(10)]


def nothing_is_lost_or_doubled(trial: Trial) -> None:
    """Every run is in one block; after a failure everything before it has been given out, and is recorded."""
    with Record(trial.folder / "record") as record, trial.make(trial.workers) as executor:
        job = Job("conformance", works.identify, _SEED, 7, 1000)
        done = list(run(executor, job, None, Oversight(record)))
        assert [finished.block.number for finished in done] == list(range(143))
        assert sum(finished.block.runs for finished in done) == 1000
        failing = Job("failing", works.Raising(6), _SEED, 100, 1000)
        taken, _ = _until_error(executor, failing, Oversight(record))
        assert taken == list(range(6))
        assert set(range(6)) <= record.finished(failing)
        assert 6 not in record.finished(failing)


def big_results_arrive(trial: Trial) -> None:
    """Results are larger than any pipe's buffer."""
    with trial.make(trial.workers) as executor:
        for number, result in enumerate(_results(executor, _job(works.large, 3))):
            assert result.shape == (4_000_000,)
            assert (result == number).all()


def few_blocks_are_enough(trial: Trial) -> None:
    """No runs, one run, one block, a block and a bit."""
    with trial.make(trial.workers) as executor:
        for runs, sizes in ((0, []), (1, [1]), (100, [100]), (101, [100, 1])):
            job = Job("conformance", works.identify, _SEED, 100, runs)
            assert [result[-1] for result in _results(executor, job)] == sizes


def global_generators_are_kept_apart(trial: Trial) -> None:
    """Work that draws from `random` and `numpy.random` gets the block's own numbers; the caller's stay as they were."""
    python, legacy = random.getstate(), numpy.random.get_state()  # noqa: NPY002  (what is to be examined)
    with trial.make(trial.workers) as executor:
        if executor.abilities.seeds_globals:
            first = _results(executor, _job(works.draw_globally, 12))
            assert first == _results(executor, _job(works.draw_globally, 12))
            assert len({number for pair in first for number in pair}) == 24, "blocks and generators share numbers"
            some = [done.result for done in run(executor, _job(works.draw_globally, 12), (3, 7))]
            assert some == [first[3], first[7]], "a block's numbers depend on the blocks before it"
        else:
            _results(executor, _job(works.count, 4))
    assert random.getstate() == python
    after = numpy.random.get_state()  # noqa: NPY002
    assert all(numpy.array_equal(one, other) for one, other in zip(legacy, after, strict=True))


def rounds_depend_on_results_alone(trial: Trial) -> None:
    """Decisions see whole rounds in the order of their blocks, and so fall alike whoever does the work."""

    def decided(executor: Executor) -> tuple[list[int], tuple[int, ...]]:
        seen: list[int] = []

        def decide(finished: Any) -> int:
            seen.extend(done.block.number for done in finished)
            hits = sum(done.result[0] for done in finished)
            return 3 if not finished else 0 if len(seen) > 12 else 2 + hits % 4

        return seen, rounds(executor, Job("conformance", works.Unlike(0.01), _SEED, 100), decide)

    with trial.make(1) as alone, trial.make(trial.workers) as executor:
        seen, sizes = decided(executor)
        assert (seen, sizes) == decided(alone)
        assert seen == list(range(sum(sizes)))


def an_executor_does_many_jobs(trial: Trial) -> None:
    """Whoever stops taking blocks stops the work, and the executor goes on with other jobs."""
    with trial.make(trial.workers) as executor:
        for seed in range(5):
            job = Job("conformance", works.count, seed, 100, 5000)
            first = next(run(executor, job))
            assert first.result == works.count(first.block, first.block.generator())
        _usable(executor)


def closures_are_taken_or_refused(trial: Trial) -> None:
    """Work that cannot be sent elsewhere is done, or refused before anything runs."""
    job: Job[int] = Job("conformance", lambda block, generator: block.number, _SEED, 100, 300)
    with trial.make(trial.workers) as executor:
        if executor.abilities.takes_closures:
            assert _results(executor, job) == [0, 1, 2]
        else:
            taken, error = _until_error(executor, job)
            assert taken == []
            assert isinstance(error, UsageError)
        _usable(executor)


CHECKS: tuple[Callable[[Trial], None], ...] = (
    blocks_come_in_order,
    the_number_of_workers_changes_nothing,
    back_pressure_holds,
    exceptions_name_their_block,
    a_dead_worker_is_replaced,
    time_limits_are_kept_or_refused,
    cancelling_leaves_a_state_to_resume,
    cancelling_stops_work_that_hangs,
    what_is_recorded_is_not_redone,
    nothing_is_lost_or_doubled,
    big_results_arrive,
    few_blocks_are_enough,
    global_generators_are_kept_apart,
    rounds_depend_on_results_alone,
    an_executor_does_many_jobs,
    closures_are_taken_or_refused,
)


def _job(work: Work[T], blocks: int) -> Job[T]:
    return Job("conformance", work, _SEED, 100, 100 * blocks)


def _results(executor: Executor, job: Job[T], oversight: Oversight | None = None) -> list[T]:
    return [finished.result for finished in run(executor, job, None, oversight)]


def _expected(work: Work[T], blocks: int) -> list[T]:
    """What a plain loop gives."""
    job = _job(work, blocks)
    return [work(block, block.generator()) for block in map(job.block, range(blocks))]


def _until_error(
    executor: Executor, job: Job[T], oversight: Oversight | None = None
) -> tuple[list[T], DPVerdictError | None]:
    taken: list[T] = []
    try:
        taken.extend(finished.result for finished in run(executor, job, None, oversight))
    except DPVerdictError as error:
        return taken, error
    return taken, None


def _usable(executor: Executor) -> None:
    """Nothing that happened before has harmed the executor."""
    assert _results(executor, _job(works.count, 3)) == _expected(works.count, 3)


def _cancel_when(sign: Path, cancel: Cancel) -> None:
    while not sign.exists():
        time.sleep(0.01)
    cancel.request("a test")
