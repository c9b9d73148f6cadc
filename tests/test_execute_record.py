"""The record: exact values, one owner, no surprises from files that are full, foreign, damaged or elsewhere."""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverdict.errors import DPVerdictError, RecordError
from dpverdict.execute import conformance_works as works
from dpverdict.execute.encoding import UnencodableError, decode, encode
from dpverdict.execute.executor import Finished
from dpverdict.execute.job import Block, Job
from dpverdict.execute.processes import ProcessExecutor
from dpverdict.execute.record import Record
from dpverdict.execute.rounds import rounds
from dpverdict.execute.run import Oversight, run
from dpverdict.execute.threads import ThreadExecutor

JOB = Job("job ε", works.count, 1, 10, 100)


def finished(number: int, result: Any = 1) -> Finished[Any]:
    return Finished(JOB.block(number), result, 0.5)


def complaint(caught: pytest.ExceptionInfo[RecordError], code: str, *parts: object) -> None:
    text = str(caught.value)
    assert caught.value.code == code
    assert "why: " in text
    assert "try: " in text
    for part in parts:
        assert str(part) in text


# --- values ----------------------------------------------------------------------------------------------------

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.text(st.characters(categories=["Cs"]))
    | st.binary(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.integers() | st.text(), inner),
)


def same(one: Any, other: Any) -> bool:
    """Equal in type and bits, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one.items()), list(other.items()))
    if isinstance(one, (np.ndarray, np.generic)):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    return bool(one == other)


@given(plain)
def test_plain_values_come_back_exactly(value: Any) -> None:
    assert same(decode(encode(value)), value)


@pytest.mark.parametrize(
    "value",
    [
        10**5000,
        -(2**4096),
        Counter({(1, None): 3, "a": 2, (True, b"x"): 1}),
        {True: 1, "1": 2, 2.5: 3, (): 4},
        np.arange(6.0).reshape(2, 3),
        np.array(["a", "ε"]),
        np.array([], dtype=np.uint8),
        np.array([1 + 2j, np.nan]),
        np.array(3),
        np.float32(0.1),
        np.int64(-1),
        np.bool_(True),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        [np.ones(2), (np.zeros(1), {"x": np.int8(3)})],
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_other_values_come_back_exactly(value: Any) -> None:
    assert same(decode(encode(value)), value)


@pytest.mark.parametrize("value", [object(), {1, 2}, JOB.block(0), np.array([object()]), [1, [lambda: 0]], 1j])
def test_values_that_are_not_plain_are_refused(value: Any, tmp_path: Path) -> None:
    with pytest.raises(UnencodableError):
        encode(value)
    with Record(tmp_path / "record") as record, pytest.raises(RecordError) as caught:
        record.add(JOB, finished(3, value))
    complaint(caught, "RECORD-006", "block 3", tmp_path)


def test_results_are_the_same_from_the_record(tmp_path: Path) -> None:
    with Record(tmp_path / "record") as record:
        fresh = list(run(ThreadExecutor(2), JOB, None, Oversight(record)))
    with Record(tmp_path / "record") as record:
        assert list(run(ThreadExecutor(1), JOB, None, Oversight(record))) == fresh
    assert [path.name for path in tmp_path.iterdir()] == ["record"], "one small file"


# --- whose record it is ----------------------------------------------------------------------------------------


def test_other_options_are_refused_and_both_are_shown(tmp_path: Path) -> None:
    Record(tmp_path / "record", {"epsilon": 0.5, "input": [0, 1]}).close()
    Record(tmp_path / "record", {"input": [0, 1], "epsilon": 0.5}).close()
    with pytest.raises(RecordError) as caught:
        Record(tmp_path / "record", {"epsilon": 0.25, "input": [0, 1]})
    complaint(caught, "RECORD-003", "epsilon = 0.5", "epsilon = 0.25", tmp_path)
    assert "input" not in caught.value.message
    with pytest.raises(RecordError) as caught:
        Record(tmp_path / "record", {"epsilon": 0.5, "input": [0, 1], "delta": 0})
    complaint(caught, "RECORD-003", "delta = nothing", "delta = 0")


@pytest.mark.parametrize(
    ("other", "parts"),
    [
        (Job("job ε", works.count, 2, 10, 100), ("seed = 1", "seed = 2")),
        (Job("job ε", works.count, 1, 20, 100), ("block_size = 10", "block_size = 20")),
        (Job("job ε", works.count, 1, 10, 200), ("runs = 100", "runs = 200")),
        (Job("job ε", works.count, 1, 10), ("runs = 100", "runs = null")),
        (Job("job ε", works.identify, 1, 10, 100), ("conformance_works:count", "conformance_works:identify")),
    ],
)
def test_another_job_under_the_same_name_is_refused(other: Job[Any], parts: tuple[str, str], tmp_path: Path) -> None:
    with Record(tmp_path / "record") as record:
        record.add(JOB, finished(0))
        with pytest.raises(RecordError) as caught:
            list(run(ThreadExecutor(1), other, None, Oversight(record)))
    complaint(caught, "RECORD-003", "job 'job ε'", tmp_path, *parts)


def test_phases_and_names_are_kept_apart(tmp_path: Path) -> None:
    with Record(tmp_path / "record") as record:
        record.add(JOB, finished(0))
        assert record.finished(Job("job ε", works.count, 1, 10, 100, phase="another")) == set()
        assert record.finished(Job("other", works.count, 1, 10, 100)) == set()
        assert record.finished(JOB) == {0}


def test_a_block_is_never_replaced(tmp_path: Path) -> None:
    with Record(tmp_path / "record") as record:
        record.add(JOB, finished(0, 1))
        with pytest.raises(RecordError) as caught:
            record.add(JOB, finished(0, 2))
        complaint(caught, "RECORD-004", tmp_path)
        assert record.result(JOB, JOB.block(0)).result == 1


def test_two_runs_do_not_share_a_record(tmp_path: Path) -> None:
    with Record(tmp_path / "record"):
        with pytest.raises(RecordError) as caught:
            Record(tmp_path / "record")
        complaint(caught, "RECORD-005", tmp_path)
    Record(tmp_path / "record").close()


# --- files that are not as they should be ----------------------------------------------------------------------


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "record"):
        with pytest.raises(RecordError) as caught:
            Record(path)
        complaint(caught, "RECORD-001", path)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a file that nobody may write")
def test_a_file_that_cannot_be_written() -> None:
    with pytest.raises(DPVerdictError) as caught:
        Record("/proc/version")
    assert "/proc/version" in str(caught.value)


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    text, database = tmp_path / "text", tmp_path / "database"
    text.write_text("no database " * 100)
    with contextlib.closing(sqlite3.connect(database)) as other:
        other.execute("CREATE TABLE mine (a)")
    for path in (text, database):
        before = path.read_bytes()
        with pytest.raises(RecordError) as caught:
            Record(path)
        complaint(caught, "RECORD-002", path)
        assert path.read_bytes() == before


def test_a_file_of_another_version_is_left_alone(tmp_path: Path) -> None:
    Record(tmp_path / "record").close()
    with contextlib.closing(sqlite3.connect(tmp_path / "record")) as database:
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(RecordError) as caught:
        Record(tmp_path / "record")
    complaint(caught, "RECORD-002", "version 2")


def test_an_empty_file_is_a_new_record(tmp_path: Path) -> None:
    # A run that is killed at once leaves one.
    (tmp_path / "record").touch()
    with Record(tmp_path / "record") as record:
        assert record.finished(JOB) == set()


def test_a_changed_block_is_found(tmp_path: Path) -> None:
    with Record(tmp_path / "record") as record:
        list(run(ThreadExecutor(1), JOB, None, Oversight(record)))
    for change in ("result = zeroblob(length(result))", "runs = 9", "result = x'00', digest = x'00'"):
        with contextlib.closing(sqlite3.connect(tmp_path / "record")) as database, database:
            before = database.execute("SELECT runs, result, digest FROM blocks WHERE number = 4").fetchone()
            database.execute(f"UPDATE blocks SET {change} WHERE number = 4")
        with Record(tmp_path / "record") as record, pytest.raises(RecordError) as caught:
            list(run(ThreadExecutor(1), JOB, None, Oversight(record)))
        complaint(caught, "RECORD-004", "block 4", tmp_path)
        with contextlib.closing(sqlite3.connect(tmp_path / "record")) as database, database:
            database.execute("UPDATE blocks SET runs = ?, result = ?, digest = ? WHERE number = 4", before)


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "record"
    with Record(path) as record:
        for number in range(10):
            record.add(JOB, finished(number, bytes(3000)))
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], data[:100] + b"\xff" * (len(data) - 100), b"\0" * 4096):
        path.write_bytes(damaged)
        with pytest.raises(RecordError) as caught, Record(path) as record:
            list(run(ThreadExecutor(1), JOB, None, Oversight(record)))
        assert caught.value.code in ("RECORD-002", "RECORD-004")
        assert str(path) in str(caught.value)


FULL = """
    import resource, signal, sys
    from collections import Counter
    from dpverdict.errors import RecordError
    from dpverdict.execute.job import Job
    from dpverdict.execute.record import Record
    from dpverdict.execute.run import Oversight, run
    from dpverdict.execute.threads import ThreadExecutor

    def work(block, generator):
        return generator.bytes(20_000)

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    seen, limit = [], int(sys.argv[2])
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        with Record(sys.argv[1]) as record:
            for finished in run(ThreadExecutor(2), Job("full", work, 1, 10, 400), None, Oversight(record)):
                seen.append(finished.block.number)
    except RecordError as error:
        sys.stdout.write(f"{error}\\n")
    sys.stdout.write(f"seen {len(seen)}\\n")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs limits of the system")
def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    def attempt(limit: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(FULL), str(tmp_path / "record"), str(limit)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    said = attempt(400_000)
    assert "RecordError[RECORD-001]: cannot write the record" in said
    assert str(tmp_path / "record") in said
    assert "why: " in said
    assert "free space" in said
    seen = int(said.split()[-1])
    assert 0 < seen < 40
    with contextlib.closing(sqlite3.connect(tmp_path / "record")) as database:
        kept = database.execute("SELECT number FROM blocks").fetchall()
    assert set(range(seen)) <= {number for (number,) in kept}, "what was seen was not recorded"
    assert attempt(0) == "seen 40\n"


# --- rounds ----------------------------------------------------------------------------------------------------


def hits(block: Block, generator: np.random.Generator) -> int:
    return int(generator.integers(0, 10, block.runs).sum())


ENDLESS: Job[int] = Job("rounds", hits, 3, 10)


class Decider:
    """Has as many rounds as it is told, as if by a clock."""

    def __init__(self, rounds: int) -> None:
        self.left, self.seen = rounds, list[int]()

    def __call__(self, finished: Any) -> int:
        self.seen += [done.result for done in finished]
        self.left -= 1
        return 0 if self.left < 0 else 2 + self.left % 2


def test_rounds_are_repeated_as_they_were(tmp_path: Path) -> None:
    first, again, elsewhere = Decider(4), Decider(9), Decider(2)
    with Record(tmp_path / "record") as record:
        sizes = rounds(ThreadExecutor(2), ENDLESS, first, Oversight(record))
        assert record.rounds(ENDLESS) == (*sizes, 0)
    with Record(tmp_path / "record") as record:
        assert rounds(ThreadExecutor(1), ENDLESS, again, Oversight(record)) == sizes
    with ProcessExecutor(2) as executor:
        job: Job[Any] = Job("rounds", works.count, 3, 10)
        assert rounds(executor, job, elsewhere, replay=sizes) == sizes
    assert first.seen == again.seen
    assert len(elsewhere.seen) == sum(sizes)


def test_rounds_that_were_cut_off_go_on(tmp_path: Path) -> None:
    whole, begun, resumed = Decider(5), Decider(5), Decider(5)
    sizes = rounds(ThreadExecutor(1), ENDLESS, whole)
    begun_calls = 0

    def cut(finished: Any) -> int:
        nonlocal begun_calls
        begun_calls += 1
        if begun_calls == 4:
            raise KeyboardInterrupt
        return begun(finished)

    with Record(tmp_path / "record") as record, pytest.raises(KeyboardInterrupt):
        rounds(ThreadExecutor(1), ENDLESS, cut, Oversight(record))
    with Record(tmp_path / "record") as record:
        assert record.rounds(ENDLESS) == sizes[:3]
        assert rounds(ThreadExecutor(1), ENDLESS, resumed, Oversight(record)) == sizes
    assert resumed.seen == whole.seen


def test_rounds_end_with_the_job() -> None:
    job: Job[int] = Job("rounds", hits, 3, 10, 65)
    assert rounds(ThreadExecutor(1), job, lambda finished: 4) == (4, 3)


def test_rounds_that_do_not_fit(tmp_path: Path) -> None:
    with Record(tmp_path / "record") as record:
        rounds(ThreadExecutor(1), ENDLESS, Decider(2), Oversight(record))
        with pytest.raises(RecordError) as caught:
            rounds(ThreadExecutor(1), ENDLESS, Decider(2), Oversight(record), replay=(2, 2))
    complaint(caught, "RECORD-007", "2, 2, 0", "3, 2, 0")
    for wrong in (-1, 1.5, True, None):
        with pytest.raises(DPVerdictError, match="the next round") as other:
            rounds(ThreadExecutor(1), ENDLESS, lambda finished, wrong=wrong: wrong)  # type: ignore[misc]
        assert repr(wrong) in str(other.value)
