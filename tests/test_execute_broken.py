"""The conformance suite can fail: executors that are broken in one way each do not pass it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverdict.errors import ExecutionError
from dpverdict.execute import conformance
from dpverdict.execute.executor import Abilities, Crew, Failed, Finished
from dpverdict.execute.job import Block, Job
from dpverdict.execute.threads import ThreadExecutor


class Broken(ThreadExecutor):
    """Sound threads, for others to break."""

    __slots__ = ()

    def crew(self, job: Job[Any]) -> Crew[Any]:
        return BrokenCrew(ThreadExecutor(self.workers).crew(job))


class BrokenCrew:
    def __init__(self, crew: Crew[Any]) -> None:
        self.crew = crew

    def submit(self, block: Block) -> None:
        self.crew.submit(block)

    def wait(self, seconds: float) -> Any:
        return self.crew.wait(seconds)

    def close(self) -> Sequence[Any]:
        return self.crew.close()


class SeedsByTurn(Broken):
    """The noise depends on how many blocks this executor has done, not on which."""

    def crew(self, job: Job[Any]) -> Crew[Any]:
        turn = iter(range(1000))

        def work(block: Block, generator: np.random.Generator) -> Any:
            return job.work(block, replace(block, number=next(turn)).generator())

        return super().crew(replace(job, work=work))


class IgnoresThePhase(Broken):
    def crew(self, job: Job[Any]) -> Crew[Any]:
        return super().crew(
            replace(job, work=lambda block, _: job.work(block, replace(block, phase="run").generator()))
        )


class SwallowsExceptions(Broken):
    def crew(self, job: Job[Any]) -> Crew[Any]:
        class Swallowing(BrokenCrew):
            def wait(self, seconds: float) -> Any:
                ending = self.crew.wait(seconds)
                return Finished(ending.block, None, 0.0) if isinstance(ending, Failed) else ending

        return Swallowing(super().crew(job))


class HidesWhere(Broken):
    """Says that something failed, but not where."""

    def crew(self, job: Job[Any]) -> Crew[Any]:
        class Hiding(BrokenCrew):
            def wait(self, seconds: float) -> Any:
                ending = self.crew.wait(seconds)
                if isinstance(ending, Failed):
                    return Failed(ending.block, ExecutionError("RUN-000", "planted", why="it did", fix="none"))
                return ending

        return Hiding(super().crew(job))


class DoesBlocksTwice(Broken):
    def crew(self, job: Job[Any]) -> Crew[Any]:
        def work(block: Block, generator: np.random.Generator) -> Any:
            job.work(block, block.generator())
            return job.work(block, generator)

        return super().crew(replace(job, work=work))


class TouchesGlobals(Broken):
    def crew(self, job: Job[Any]) -> Crew[Any]:
        random.seed(job.seed)
        return super().crew(job)


class AcceptsLimits(Broken):
    """Takes a time limit that it cannot keep (the work that hangs is exchanged for one that does not)."""

    def crew(self, job: Job[Any]) -> Crew[Any]:
        limited = job.seconds_per_block is not None
        return super().crew(replace(job, work=lambda *_: 0, seconds_per_block=None) if limited else job)


class CarriesGlobals(Broken):
    """Says that it seeds the global generators, and does not."""

    @property
    def abilities(self) -> Abilities:
        return replace(super().abilities, seeds_globals=True)


class SharesGlobals(CarriesGlobals):
    """Seeds them alike for every block, as forked workers would be."""

    def crew(self, job: Job[Any]) -> Crew[Any]:
        def work(block: Block, generator: np.random.Generator) -> Any:
            random.seed(1)
            np.random.seed(1)  # noqa: NPY002
            return job.work(block, generator)

        return super().crew(replace(job, work=work))


class RefusesClosures(Broken):
    """Says that it refuses closures, and takes them."""

    @property
    def abilities(self) -> Abilities:
        return replace(super().abilities, takes_closures=False)


@pytest.mark.parametrize(
    ("make", "check"),
    [
        (SeedsByTurn, conformance.the_number_of_workers_changes_nothing),
        (IgnoresThePhase, conformance.the_number_of_workers_changes_nothing),
        (SwallowsExceptions, conformance.exceptions_name_their_block),
        (HidesWhere, conformance.exceptions_name_their_block),
        (DoesBlocksTwice, conformance.what_is_recorded_is_not_redone),
        (TouchesGlobals, conformance.global_generators_are_kept_apart),
        (CarriesGlobals, conformance.global_generators_are_kept_apart),
        (SharesGlobals, conformance.global_generators_are_kept_apart),
        (AcceptsLimits, conformance.time_limits_are_kept_or_refused),
        (RefusesClosures, conformance.closures_are_taken_or_refused),
    ],
)
def test_a_broken_executor_does_not_conform(
    make: Callable[[int], ThreadExecutor], check: Callable[[conformance.Trial], None], tmp_path: Path
) -> None:
    state, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with pytest.raises(AssertionError):
            check(conformance.Trial(make, 2, tmp_path))
    finally:
        random.setstate(state)
        np.random.set_state(legacy)  # noqa: NPY002


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_what_they_break_is_sound(check: Callable[[conformance.Trial], None], tmp_path: Path) -> None:
    check(conformance.Trial(Broken, 2, tmp_path))
