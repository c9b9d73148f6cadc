"""Mechanisms: the program language, and the front doors through which a mechanism comes in.

The room is also the decorator, so that `from dpverdict import mechanism` serves both `@mechanism` and
`mechanism.explain`.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from dpverdict.mechanism.front import Mechanism, mechanism

__all__ = ["Mechanism", "mechanism"]


class _Room(types.ModuleType):
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return mechanism(*args, **keywords)


sys.modules[__name__].__class__ = _Room
