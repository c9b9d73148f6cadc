"""The program of a worker process: requests from standard input, replies to what was standard output.

A worker is a fresh interpreter (docs/decisions/0005): it shares no state, no locks and no random generators with its
parent.  It leads a session of its own, so that it can be killed together with everything that it has started, and it
ends itself in that way as soon as its parent is gone.
"""

from __future__ import annotations

import io
import os
import pickle
import runpy
import select
import signal
import sys
import threading
import time
import types
from functools import partial
from typing import Any, BinaryIO, NoReturn, assert_never

from dpverdict.execute import seeds
from dpverdict.execute.failures import Raised, describe
from dpverdict.execute.job import Block, Work
from dpverdict.execute.messages import Do, Load, Main, NotDone, Ready, Reply, Request, Result

_MAIN = "__mp_main__"
"""The name under which the parent's program is loaded: the one that multiprocessing uses, which guards know."""


def main() -> None:
    """Serve until the parent closes the pipe or is gone."""
    requests, replies = _take_over()
    if hasattr(select, "poll"):
        threading.Thread(target=_watch, args=(requests,), daemon=True).start()
    work: Work[Any] | None = None
    while True:
        request = _next(requests)
        reply: Reply
        match request:
            case Load():
                work, reply = _load(request)
            case Do(block):
                assert work is not None, "a parent sends the work before the first block"
                reply = _do(work, block)
            case _:
                assert_never(request)
        sys.stdout.flush()
        _answer(reply, replies)


def _take_over() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes; from here on, what is printed goes to standard error, and standard input is empty."""
    try:
        os.fstat(2)
    except OSError:
        os.open(os.devnull, os.O_WRONLY)  # there is no standard error: this takes its number, which is the lowest free
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):
        # A process that the work forks must not keep the pipe open when its worker dies.
        os.register_at_fork(after_in_child=partial(os.close, requests))
        os.register_at_fork(after_in_child=partial(os.close, replies))
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


def _next(requests: BinaryIO) -> Request:
    try:
        request: Request = pickle.load(requests)
    except (EOFError, OSError, pickle.UnpicklingError):
        _end()
    return request


def _watch(requests: BinaryIO) -> None:
    """Wait until the parent's end of the pipe is closed, whatever the work is doing meanwhile."""
    closed = select.poll()
    closed.register(requests.fileno(), 0)  # no events: only the end of the pipe counts
    closed.poll()
    _end()


def _end() -> NoReturn:
    """End this process and all that it has started."""
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _load(request: Load) -> tuple[Work[Any] | None, Reply]:
    try:
        return _Unpickler(io.BytesIO(request.work), request.main).load(), Ready()
    except BaseException as error:  # noqa: BLE001  (the parent says what is wrong)
        return None, NotDone(describe(error))


def _do(work: Work[Any], block: Block) -> Reply:
    seeds.seed_globals(block.seed, block.job, block.number, block.phase)
    started = time.perf_counter()
    try:
        result = work(block, block.generator())
    except BaseException as error:  # noqa: BLE001  (also SystemExit: it is the work's, not the worker's)
        return NotDone(describe(error))
    seconds = time.perf_counter() - started
    try:
        return Result(pickle.dumps(result, pickle.HIGHEST_PROTOCOL), seconds)
    except Exception as error:  # noqa: BLE001  (whatever a result does when it is pickled)
        said = f"its result, of type {type(result).__qualname__}, cannot be sent to the parent: {error}"
        return NotDone(Raised(type(error).__name__, said, "", said))


def _answer(reply: Reply, replies: BinaryIO) -> None:
    try:
        message = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001  (an error may hold anything; then its text has to do)
        assert isinstance(reply, NotDone)
        raised = reply.raised
        message = pickle.dumps(NotDone(Raised(raised.exception, raised.text, raised.where, raised.traceback)))
    replies.write(message)
    replies.flush()


class _Unpickler(pickle.Unpickler):
    """Loads work; the parent's own program only if the work is defined there."""

    def __init__(self, file: BinaryIO, main: Main) -> None:
        super().__init__(file)
        self._main = main

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__" and _MAIN not in sys.modules:
            _load_main(self._main)
        return super().find_class(module, name)


def _load_main(main: Main) -> None:
    if main.module is not None:
        names = runpy.run_module(main.module, run_name=_MAIN, alter_sys=True)
    elif main.path is not None:
        names = runpy.run_path(main.path, run_name=_MAIN)
    else:
        raise ImportError("the work is defined in an interactive session, which a worker cannot import")
    module = types.ModuleType(_MAIN)
    module.__dict__.update(names)
    sys.modules["__main__"] = sys.modules[_MAIN] = module
