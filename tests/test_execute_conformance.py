"""Our own executors against the suite that any other executor has to pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dpverdict.execute import conformance
from dpverdict.execute.executor import Executor
from dpverdict.execute.processes import ProcessExecutor
from dpverdict.execute.threads import ThreadExecutor


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("make", [ThreadExecutor, ProcessExecutor])
@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_conformance(
    check: Callable[[conformance.Trial], None], make: Callable[[int], Executor], workers: int, tmp_path: Path
) -> None:
    check(conformance.Trial(make, workers, tmp_path))
