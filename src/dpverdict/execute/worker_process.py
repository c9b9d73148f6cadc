"""One worker process as its parent sees it: started, asked, killed."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import IO

from dpverdict.execute import failures
from dpverdict.execute.messages import Load, Main, NotDone, Reply, Request

_PROGRAM = """\
import sys
sys.path[:] = sys.argv[1:]
del sys.argv[1:]
from dpverdict.execute.worker import main
main()
"""

_ONE_THREAD_EACH = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_KILLED_AFTER = 5.0


class Died(Exception):
    """The worker has ended while it was asked."""


class WorkerProcess:
    """A worker; one thread asks it, any thread may kill it."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, *_search_path()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise failures.not_started(str(error)) from error
        self._loaded: Load | None = None

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def loads(self, load: Load) -> NotDone | None:
        """Make this its work; what was raised, if that did not succeed.  Raises Died."""
        if self._loaded is not load and self._loaded != load:
            reply = self.ask(load)
            if isinstance(reply, NotDone):
                return reply
        self._loaded = load
        return None

    def ask(self, request: Request) -> Reply:
        """The reply to a request.  Raises Died."""
        self.send(request)
        return self.receive()

    def send(self, request: Request) -> None:
        """Give it a request, which it answers after those before it; small enough for a pipe.  Raises Died."""
        requests, _ = self._pipes()
        try:
            pickle.dump(request, requests, pickle.HIGHEST_PROTOCOL)
            requests.flush()
        except (OSError, ValueError) as error:
            raise Died from error

    def receive(self) -> Reply:
        """The reply to the earliest request that has none yet.  Raises Died."""
        _, replies = self._pipes()
        try:
            reply: Reply = pickle.load(replies)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError) as error:
            raise Died from error
        return reply

    def kill(self) -> None:
        """End the process and everything that it has started, now."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # The process has not been waited for, so its number is still its own.
            if self._process.returncode is None and hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def bury(self) -> int | None:
        """Its exit status (minus the signal's number); what it has started ends too, and its pipes are closed.

        A process whose pipe has closed because it ended keeps its own status: the kill comes too late for it.
        """
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILLED_AFTER)
        for pipe in self._pipes():
            with contextlib.suppress(OSError):
                pipe.close()
        return self._process.returncode

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        requests, replies = self._process.stdin, self._process.stdout
        assert requests is not None
        assert replies is not None
        return requests, replies


def main_program(main: ModuleType) -> Main:
    """How another process can find the program that this one runs."""
    spec, path = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return Main(None, spec.name)
    return Main(None if path is None else str(Path(path).absolute()), None)


def _search_path() -> list[str]:
    """Where modules are found, for a process that may have another current directory later."""
    return [str(Path(entry).absolute()) for entry in sys.path]


def _environment() -> dict[str, str]:
    """The parent's, made to give the same results in every worker and with any number of workers.

    Texts hash alike everywhere, so that sets of them have one order.  Linear algebra uses one thread in each worker,
    unless the user says otherwise: its rounding can depend on the number of threads.
    """
    return dict.fromkeys(_ONE_THREAD_EACH, "1") | os.environ | {"PYTHONHASHSEED": "0"}
