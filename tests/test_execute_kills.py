"""Killed at any moment and resumed, the counts are the same; nothing stays behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from execute_victim import BLOCKS, job_of, work

VICTIM = Path(__file__).with_name("execute_victim.py")
MARK = "DPVERDICT_TEST_MARK"
KILLS = 30

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and process groups")
proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.fixture
def mark() -> Iterator[str]:
    """A mark in the environment, by which everything that a test has started is found."""
    text = uuid.uuid4().hex
    yield text
    for pid in marked(text):
        os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> list[int]:
    """Living processes with this mark; a zombie has no environment, and is found by `zombies`."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in environ.read_bytes():
                found.append(int(environ.parent.name))
        except OSError:
            continue
    return found


def all_gone(mark: str) -> bool:
    """Whether nothing with the mark is left, after a while: a kill takes a moment to arrive."""
    for _ in range(500):
        if not marked(mark):
            return True
        time.sleep(0.02)
    return False


def start(mark: str, *arguments: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), MARK: mark}
    victim = subprocess.Popen(
        [sys.executable, str(VICTIM), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # so that reading a line leaves the next one to `communicate`
        env=environment,
        start_new_session=True,
    )
    assert victim.stdout is not None
    assert victim.stdout.readline() == b"ready\n", victim.communicate()
    return victim


def expected() -> list[list[int]]:
    job = job_of()
    counts: Counter[int] = Counter()
    for block in map(job.block, range(BLOCKS)):
        counts += work(block, block.generator())
    return [list(item) for item in sorted(counts.items())]


@posix
@proc
@pytest.mark.parametrize(("kind", "workers"), [("threads", 2), ("processes", 2)])
def test_killed_again_and_again(kind: str, workers: int, tmp_path: Path, mark: str) -> None:
    moments, killed, record = random.Random(30), 0, tmp_path / "record"
    answers = []
    while killed < KILLS // 2 or not answers:
        victim = start(mark, kind, workers, record)
        try:
            # Early and late, while workers start, blocks end and the file is written.
            answer, complaint = victim.communicate(timeout=moments.choice((0.01, 0.1, 0.3)) * moments.random())
        except subprocess.TimeoutExpired:
            if killed >= KILLS // 2:
                answer, complaint = victim.communicate()
            else:
                os.killpg(victim.pid, signal.SIGKILL)
                victim.communicate()
                killed += 1
                assert all_gone(mark), "a worker has outlived its parent"
                continue
        assert victim.returncode == 0, complaint
        answers.append(json.loads(answer))
        record.unlink()
    assert all(answer == expected() for answer in answers)
    assert all_gone(mark)


@posix
@proc
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_state_to_resume(sent: signal.Signals, tmp_path: Path, mark: str) -> None:
    record = tmp_path / "record"
    victim = start(mark, "processes", 2, record, "slow")
    assert victim.stdout is not None
    while victim.stdout.readline() != b"9\n":
        assert victim.poll() is None
    os.killpg(victim.pid, sent)  # as a terminal does: to the whole group
    _, complaint = victim.communicate()
    assert victim.returncode == 3, complaint
    assert f"stopped by {sent.name} after 10 of {BLOCKS} blocks" in complaint.decode()
    assert b"Traceback" not in complaint
    assert all_gone(mark)
    with contextlib.closing(sqlite3.connect(record)) as kept:
        assert kept.execute("SELECT number FROM blocks ORDER BY number").fetchall() == [(n,) for n in range(10)]


@posix
@proc
def test_no_worker_outlives_a_parent_that_is_killed_alone(tmp_path: Path, mark: str) -> None:
    victim = start(mark, "processes", 2, tmp_path / "record", "slow")
    assert victim.stdout is not None
    while victim.stdout.readline() != b"9\n":
        assert victim.poll() is None
    assert len(marked(mark)) == 3
    victim.kill()
    victim.communicate()
    assert all_gone(mark), "a worker that hangs has outlived its parent"
