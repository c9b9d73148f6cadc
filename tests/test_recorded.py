"""Recorded outputs: every form of file, and everything that can be wrong with one."""

from __future__ import annotations

import importlib.util
import json
import math
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverdict.errors import MissingExtraError, SamplesError, TargetError
from dpverdict.mechanism.outcome import Mapping, Outcome, same
from dpverdict.mechanism.recorded import RecordedSamples, Recording
from dpverdict.mechanism.tally import listed, tally
from dpverdict.target import load_runnable

UNUSED = np.random.default_rng(1)

has_pyarrow = importlib.util.find_spec("pyarrow") is not None


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content.encode(encoding)) and None


def array(content: Any) -> Callable[[Path], None]:
    return lambda path: np.save(path, content, allow_pickle=True)


GOOD: list[tuple[str, Callable[[Path], None], list[Outcome]]] = [
    ("a.npy", array(np.array([1.5, math.nan, -0.0])), [1.5, math.nan, -0.0]),
    ("a.npy", array(np.array([True, False])), [True, False]),
    ("a.npy", array(np.array([[1, 2], [3, 4]])), [(1, 2), (3, 4)]),
    ("a.npy", array(np.array([1, 2], dtype=">u2")), [1, 2]),
    ("a.npy", array(np.array(["x", "yy"])), ["x", "yy"]),
    ("a.npy", array(np.asfortranarray(np.arange(6).reshape(3, 2))), [(0, 1), (2, 3), (4, 5)]),
    ("a.npy", array(np.array([(1, 0.5)], dtype=[("a", int), ("b", float)])), [(1, 0.5)]),
    ("a.npz", lambda path: np.savez(path, np.arange(2)), [0, 1]),
    ("a.npz", lambda path: np.savez_compressed(path, outputs=np.arange(2)), [0, 1]),
    ("a.csv", text("1\n2.5\nnan\n-0\n"), [1, 2.5, math.nan, -0.0]),
    ("a.csv", text("output\n1\n2\n"), [1, 2]),
    ("a.csv", text("\ufeffleft,right\n1,true\n2,False\n"), [(1, True), (2, False)]),
    ("a.csv", text('1,"a, b"\r\n2,"c\nd"\r\n'), [(1, "a, b"), (2, "c\nd")]),
    ("a.csv", text("yes\nno\nyes\n"), ["yes", "no", "yes"]),
    ("a.csv", text("answer\nyes\nno\nyes\n"), ["yes", "no", "yes"]),
    ("a.csv", text("1,\n,2\n"), [(1, None), (None, 2)]),
    ("a.csv", text("1e3\ninf\n1_0\n" + "9" * 5000 + "\n"), [1000.0, math.inf, "1_0", "9" * 5000]),
    ("a.csv", text("1\n2\n\n\n"), [1, 2]),
    ("a.csv", text("only\n"), ["only"]),
    ("a.jsonl", text('1\n[true, null]\n{"a": [1.5]}\n"x"\nNaN\n-0\n'),
     [1, (True, None), Mapping([("a", (1.5,))]), "x", math.nan, -0.0]),
    ("a.ndjson", text("[]\n[1]\n\n"), [(), (1,)]),
    ("A.NPY", lambda path: np.lib.format.open_memmap(path, "w+", np.int64, shape=(2,)), [0, 0]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "write", "expected"), GOOD)
def test_every_form_of_file(folder: Path, name: str, write: Callable[[Path], None], expected: list[Outcome]) -> None:
    write(folder / name)
    rows = Recording(Path(name)).rows(0, len(expected))
    assert all(map(same, listed(rows), expected))
    assert len(rows) == len(expected)
    assert Recording(Path(name)).count() == len(expected)
    assert all(map(same, listed(Recording(Path(name)).rows(len(expected) - 1, 1)), expected[-1:]))
    with pytest.raises(SamplesError, match=rf"{len(expected) + 1} recorded outputs.*{len(expected)}"):
        Recording(Path(name)).rows(len(expected), 1)


@pytest.fixture
def pair(folder: Path) -> RecordedSamples:
    np.save("A.npy", np.arange(10))
    (folder / "B.csv").write_text("\n".join(map(str, range(100, 105))))
    found = load_runnable("samples:A.npy,B.csv")
    assert isinstance(found, RecordedSamples)
    return found


def test_rows_are_read_in_order_and_used_once(pair: RecordedSamples) -> None:
    assert pair.inputs == ("A.npy", "B.csv")
    assert listed(pair.run("A.npy", 4, UNUSED)) == [0, 1, 2, 3]
    assert listed(pair.run("B.csv", 3, UNUSED)) == [100, 101, 102]
    assert listed(pair.run("A.npy", 6, UNUSED)) == [4, 5, 6, 7, 8, 9]
    assert listed(pair.run("A.npy", 0, UNUSED)) == []
    with pytest.raises(SamplesError) as caught:
        pair.run("B.csv", 3, UNUSED)
    for part in ("6 recorded outputs are needed", "there are 5", "B.csv", "1 more"):
        assert part in str(caught.value)


def test_inputs_that_were_not_recorded(pair: RecordedSamples) -> None:
    with pytest.raises(SamplesError, match="'C'"):
        pair.run("C", 1, UNUSED)


def test_a_pair_stays_in_its_process_a_recording_does_not(pair: RecordedSamples) -> None:
    with pytest.raises(TargetError, match="TARGET-033"):
        pickle.dumps(pair)
    assert listed(pickle.loads(pickle.dumps(pair.recordings[0])).rows(2, 2)) == [2, 3]


def test_arrays_are_mapped_and_what_is_taken_is_not(folder: Path) -> None:
    # A sparse file of 8 GiB: reading it whole would not fit.
    header = np.lib.format.open_memmap(folder / "huge.npy", mode="w+", dtype=np.float64, shape=(1 << 30,))
    header[-1] = 1.0
    del header
    rows = Recording(Path("huge.npy")).rows((1 << 30) - 2, 2)
    assert listed(rows) == [0.0, 1.0]
    assert isinstance(rows, np.ndarray)
    assert not isinstance(rows, np.memmap)


def test_long_text_files_are_streamed(folder: Path) -> None:
    # The second half is no csv at all: whoever reads ahead falls over it.
    (folder / "a.csv").write_bytes(b"1\n" * 200_000 + b"\xff\xfe\n")
    rows = Recording(Path("a.csv")).rows(0, 100_000)
    assert tally(rows)[1] == 100_000
    with pytest.raises(SamplesError, match=r"(?s)UTF-8.*line"):
        Recording(Path("a.csv")).rows(0, 200_001)


def truncated(path: Path) -> None:
    np.save(path, np.arange(1000))
    path.write_bytes(path.read_bytes()[:500])


BAD: list[tuple[str, Callable[[Path], None] | None, list[str]]] = [
    ("a.npy", None, ["no such file", "a.npy"]),
    ("a", None, ["SAMPLES-021", ".parquet"]),
    ("a.txt", text("1\n"), ["'.txt'", ".csv"]),
    ("a.npy", Path.mkdir, ["folder"]),
    ("a.npy", text(""), ["empty"]),
    ("a.npy", text("no array"), ["SAMPLES-025"]),
    ("a.npy", truncated, ["SAMPLES-025", "cut off"]),
    ("a.npy", array(np.array([object()])), ["Python objects", "json lines"]),
    ("a.npy", array(np.array(3.0)), ["empty"]),
    ("a.npy", array(np.zeros((0, 2))), ["empty"]),
    ("a.npy", array(np.array(["2020-01-01"], dtype="M8[D]")), ["SAMPLES-026", "datetime64[D]"]),
    ("a.npz", text("no zip"), ["SAMPLES-025"]),
    ("a.npz", text(""), ["SAMPLES-025"]),
    ("a.npz", lambda path: np.savez(path, a=[1], b=[2]), ["a, b", "one array"]),
    ("a.npz", np.savez, ["none"]),
    ("a.csv", text(""), ["empty"]),
    ("a.csv", text("\n\n"), ["empty"]),
    ("a.csv", text("1,2\n3\n"), ["line 2", "1 cells", "has 2"]),
    ("a.csv", text("1\n\n2\n"), ["line 2", "empty"]),
    ("a.csv", text('1\n"open\n'), ["line", "csv"]),
    ("a.csv", text("1\nä\n", "latin-1"), ["UTF-8"]),
    ("a.jsonl", text(""), ["empty"]),
    ("a.jsonl", text("1\n[1,\n"), ["line 2", "not JSON", "[1,"]),
    ("a.jsonl", text("1\n\n2\n"), ["line 2", "a run is missing"]),
    ("a.jsonl", text("[" * 100_000 + "\n"), ["line 1"]),
    ("a.jsonl", text("1\nä\n", "latin-1"), ["UTF-8"]),
    ("a.jsonl", text("[" * 200 + "]" * 200), ["nested"]),
]


@pytest.mark.parametrize(("name", "write", "shown"), BAD)
def test_files_that_are_no_recordings(
    folder: Path, name: str, write: Callable[[Path], None] | None, shown: list[str]
) -> None:
    if write is not None:
        write(folder / name)
    with pytest.raises(SamplesError) as caught:
        Recording(Path(name)).rows(0, 2)
    for part in shown:
        assert part in str(caught.value), str(caught.value)
    assert caught.value.why
    assert caught.value.fix


@pytest.mark.parametrize("target", ["samples:", "samples:a.npy", "samples:,", "samples:a.npy,b.npy,c.npy"])
def test_targets_that_are_no_pair(target: str) -> None:
    with pytest.raises(SamplesError, match="SAMPLES-003"):
        load_runnable(target)


def test_the_same_file_twice() -> None:
    np.save("A.npy", np.arange(3))
    with pytest.raises(SamplesError, match="SAMPLES-001"):
        load_runnable("samples:A.npy,./A.npy")


# --- parquet -------------------------------------------------------------------------------------------------------


def test_without_pyarrow_parquet_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (folder / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtraError, match=r"(?s)pyarrow.*a\.parquet.*dpverdict\[parquet\]"):
        Recording(Path("a.parquet")).rows(0, 1)


@pytest.mark.skipif(not has_pyarrow, reason="pyarrow is not installed")
def test_parquet_files(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"output": [1.5, None, -0.0]}), "one.parquet")
    parquet.write_table(pa.table({"left": [1, 2], "right": [[True], []]}), "two.parquet")
    parquet.write_table(pa.table({"at": pa.array([0], pa.timestamp("s"))}), "wrong.parquet")
    parquet.write_table(pa.table({"at": pa.array([], pa.int64())}), "empty.parquet")
    assert all(map(same, listed(Recording(Path("one.parquet")).rows(0, 3)), [1.5, None, -0.0]))
    assert listed(Recording(Path("two.parquet")).rows(0, 2)) == [(1, (True,)), (2, ())]
    for name, code in (("wrong", "SAMPLES-026"), ("empty", "SAMPLES-024")):
        with pytest.raises(SamplesError, match=code):
            Recording(Path(f"{name}.parquet")).rows(0, 1)
    (folder / "cut.parquet").write_bytes((folder / "one.parquet").read_bytes()[:50])
    with pytest.raises(SamplesError, match="SAMPLES-025"):
        Recording(Path("cut.parquet")).rows(0, 1)


def test_json_lines_written_by_python_are_read_exactly(folder: Path) -> None:
    values = [[0.1, 1 / 3, 1e-320, -0.0, 2**60 + 1, math.inf], {"a": None}]
    (folder / "a.jsonl").write_text("".join(json.dumps(value) + "\n" for value in values))
    found = listed(Recording(Path("a.jsonl")).rows(0, 2))
    assert same(found[0], (0.1, 1 / 3, 1e-320, -0.0, 2**60 + 1, math.inf))
    assert found[1] == Mapping([("a", None)])
