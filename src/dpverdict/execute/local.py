"""Work on this machine: blocks in threads, their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def in_order(work: Callable[[int], T], blocks: Iterable[int], workers: int) -> Iterator[T]:
    """`work` of each block, in the order of the blocks; at most two blocks per worker are under way or waiting."""
    if workers < 2:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(workers) as pool:
        under_way: deque[Future[T]] = deque()
        try:
            for block in blocks:
                under_way.append(pool.submit(work, block))
                if len(under_way) >= 2 * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
