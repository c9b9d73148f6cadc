"""How neighbours are counted coordinate by coordinate, for whoever lists pairs up to the order of coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any


class Budget(ABC):
    """How far two vectors may still differ, spent coordinate by coordinate, in any order.

    What is left is a value; staying put costs nothing.  Two vectors of one length are neighbours if and only if all
    their coordinates can be paid for, so swapping coordinates of both vectors never changes the answer.
    """

    @property
    @abstractmethod
    def start(self) -> Hashable:
        """What can be spent on all coordinates."""

    @abstractmethod
    def spend(self, left: Any, a: Any, b: Any) -> Hashable:
        """What is left after a coordinate that is a in one vector and b in the other, None if that was too much."""

    @property
    def independent(self) -> bool:
        """Whether what one coordinate may do never depends on the others."""
        return False
