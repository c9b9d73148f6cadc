"""What exact decisions cost, beside what DiPC's thesis reports [ravi2019automated].

Seconds, with their ratio to a unit that is measured in the same run: the time that Python takes to start and to
import NumPy.  Machines differ, and the ratios less.  Every figure of a decision includes the check by the kernel,
unless the two are shown apart.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import groupby
from typing import NamedTuple

from dpverdict.catalog import find
from dpverdict.claim import from_arguments
from dpverdict.evidence.verdict import Measured
from dpverdict.mechanism import Mechanism
from dpverdict.papers import dipc
from dpverdict.proving import Question, proved
from dpverdict.search.decision import settle

REPEATS = 3


class Case(NamedTuple):
    """All neighbours among so many queries in {-1, 0, 1}; pruned, only the hardest ones."""

    title: str
    name: str
    queries: int
    prune: bool
    beside: str


CASES = (
    Case("SVT1", "svt1", 3, False, "DiPC 825 s"),
    Case("SVT1", "svt1", 5, False, "target 1 s"),
    Case("SVT1", "svt1", 10, False, "target 30 s"),
    Case("SVT1", "svt1", 20, True, "target 30 s"),
    Case("NMax1", "noisy-maximum", 3, False, "DiPC 197 s"),
    Case("NMax1", "noisy-maximum", 10, True, "target 10 s"),
)


def main() -> None:
    """One line per figure."""
    unit = commands()
    tables(unit)
    for case in CASES:
        decided(case, unit)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"memory at its peak: {peak:,.0f} MiB (target 1,024)")


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def commands() -> float:
    """A cold command beside a bare start of Python with NumPy, which is the unit of all ratios."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("prove", "catalog:svt1", "--domain", "-1,0,1", "--length", "3", "--out", folder)
        bare = _started("-c", "import numpy")
        cold = _started("-m", "dpverdict", *words)
    print(f"python -c 'import numpy': {bare:.2f} s, the unit of all ratios")
    print(f"dpverdict prove catalog:svt1 --domain -1,0,1 --length 3: {_beside(cold, bare)} (target 1 s; DiPC 825 s)")
    return bare


def _started(*words: str) -> float:
    command = (sys.executable, *words)
    return statistics.median(
        seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(REPEATS)
    )


def tables(unit: float) -> None:
    """DiPC's tables 8.1 to 8.5, every row with its check."""
    rows = list(dipc.rows(tables=("8.1", "8.2", "8.3", "8.4", "8.5")))
    for name, together in groupby(rows, lambda row: row.table):
        listed = list(together)
        took, published = sum(row.seconds for row in listed), sum(row.published_seconds or 0 for row in listed)
        print(f"table {name}, {len(listed)} rows: {_beside(took, unit)} (DiPC {published:,.0f} s)")
    wrong = [row for row in rows if not row.is_as_expected]
    print(f"tables 8.1 to 8.5: {_beside(sum(row.seconds for row in rows), unit)} (target 10 s), {len(wrong)} wrong")


def decided(case: Case, unit: float) -> None:
    """A proof for all pairs and all ε, and its check."""
    mechanism = find(case.name).mechanism
    assert isinstance(mechanism, Mechanism)
    claim = from_arguments(domain="-1,0,1", length=case.queries)
    question = Question(f"catalog:{case.name}", mechanism, mechanism.arguments({}), claim, case.prune)
    start = time.perf_counter()
    done = settle(question.space())
    search = time.perf_counter() - start
    entries = done.entries()
    check = seconds(lambda: proved(question, entries, Measured()))
    pruned = ", pruned" if case.prune else ""
    print(f"{case.title}, {case.queries} queries{pruned}, {len(entries):,} inequalities ({case.beside}):", end=" ")
    print(f"search {_beside(search, unit)}, check {_beside(check, unit)}, check/search {check / search:.2f} (target 2)")


def _beside(took: float, unit: float) -> str:
    return f"{took:.2f} s ({took / unit:.1f} units)"


if __name__ == "__main__":
    main()
