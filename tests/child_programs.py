"""Programs that tests run as executables, and whether they are gone."""

from __future__ import annotations

import shlex
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpverdict.errors import DPVerdictError
from dpverdict.execute import seeds

PYTHON = f"{shlex.quote(sys.executable)} -I -S"
LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")

PRELUDE = """
import json, os, signal, sys, time

def say(content, end="\\n"):
    sys.stdout.write((content if isinstance(content, str) else json.dumps(content)) + end)
    sys.stdout.flush()

def hello(**more):
    sys.stdin.readline()
    say({"hello": "test", "version": 1, **more})

def requests():
    for line in sys.stdin:
        yield json.loads(line)

def request(**more):
    hello(**more)
    return next(requests())

def serve(answer, **more):
    hello(**more)
    for asked in requests():
        say({"id": asked["id"], "outcomes": answer(asked)})
"""

Write = Callable[[str], str]
"""Writes a program and gives the command that runs it."""


def writer(folder: Path) -> Write:
    """A `Write` for programs in this folder."""

    def write(body: str) -> str:
        path = folder / "program.py"
        path.write_text(PRELUDE + textwrap.dedent(body))
        return f"{PYTHON} {shlex.quote(str(path))}"

    return write


def generator(block: int = 0) -> np.random.Generator:
    return seeds.generator(1, "test", block)


def is_running(process: int) -> bool:
    """Whether there is such a process, and it is no zombie that waits for its new parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def must_end(process: int, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while is_running(process):
        assert time.monotonic() < deadline, f"process {process} still runs"
        time.sleep(0.01)


def process_of(error: DPVerdictError) -> int:
    assert error.place is not None
    return int(error.place.partition("(process ")[2].partition(")")[0])
