"""What somebody else's code runs in: where its prints go, and the state of the process that it may move.

Standard output, the global generators of `random` and `numpy.random`, numpy's error state and the filters of
warnings belong to the whole process.  A batch of runs has them for itself, under one lock, and all are put back
afterwards: batches in threads therefore run one after the other; processes are the way to run them side by side.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import warnings
from collections.abc import Iterator

import numpy as np

from dpverdict.mechanism.watch import ALONE

_SEED_WORDS = 8

# A child that is forked while another thread holds the lock would wait for it for ever: so a fork waits for the
# batch to end.  (A fork in the middle of a batch would also inherit its redirected streams.)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=ALONE.acquire, after_in_parent=ALONE.release, after_in_child=ALONE.release)


@contextlib.contextmanager
def of_a_batch(generator: np.random.Generator) -> Iterator[None]:
    """Surroundings for a batch of runs: global generators seeded from the batch's own, prints on standard error."""
    with ALONE, user_code(), np.errstate(), warnings.catch_warnings(), _global_generators(generator):
        yield


@contextlib.contextmanager
def user_code() -> Iterator[None]:
    """Run somebody else's code: what it prints goes to standard error, also from C and from child processes."""
    with contextlib.redirect_stdout(sys.stderr), _descriptor_redirected():
        yield


@contextlib.contextmanager
def _descriptor_redirected() -> Iterator[None]:
    try:
        out, err = sys.__stdout__.fileno(), sys.__stderr__.fileno()  # type: ignore[union-attr]
        saved = os.dup(out)
    except (AttributeError, OSError, ValueError):
        # No real streams (embedded, or closed): then there is nothing that could be mixed up.
        yield
        return
    try:
        with contextlib.suppress(AttributeError, OSError, ValueError):
            sys.__stdout__.flush()  # type: ignore[union-attr]
        os.dup2(err, out)
        yield
    finally:
        os.dup2(saved, out)
        os.close(saved)


@contextlib.contextmanager
def _global_generators(generator: np.random.Generator) -> Iterator[None]:
    """Seed `random` and `numpy.random` from this generator; forked workers would otherwise share their state."""
    words = generator.integers(1 << 32, size=_SEED_WORDS, dtype=np.uint32)
    before, numpy_before = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
    random.seed(int.from_bytes(words.tobytes(), "little"))
    np.random.seed(words)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)  # noqa: NPY002
