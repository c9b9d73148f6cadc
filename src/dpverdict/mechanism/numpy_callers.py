"""What numpy is doing when it asks a symbol for something: told from the frames that called.

numpy does not say what it wants an item for, and booleans mean different things to its functions: a sum counts them,
`+` between two arrays is "or", `any` takes them as they are, and a maximum beside a number makes one a number.
"""

from __future__ import annotations

import dis
from types import FrameType

from dpverdict.mechanism.place import is_users

_TYPELESS = frozenset(("any", "all", "count_nonzero", "mean", "average", "median", "argmax", "argmin"))
_OF_SEVERAL = frozenset(("sum", "prod"))


def may_read_booleans(frame: FrameType | None) -> bool:
    """Whether a numpy function gives the same for a list with booleans in it, whether they are made numbers or not."""
    items: object = None
    while frame is not None and _is_numpys(frame):
        items = frame.f_locals.get("obj", items)
        name = frame.f_code.co_name
        if name in _TYPELESS:
            return True
        if name in _OF_SEVERAL:  # of a single one, numpy would make a number where a symbol stays a boolean
            if not isinstance(items, (list, tuple)) or len(items) < 2:
                return False
            return not any(isinstance(item, (list, tuple)) for item in items)
        frame = frame.f_back
    return False


def is_inside_numpy(frame: FrameType) -> bool:
    """Whether an operator was called by numpy's compiled code for a whole array, not between two values or arrays."""
    if _is_numpys(frame):
        return True
    return is_users(frame) and not dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("BINARY_OP")


def _is_numpys(frame: FrameType) -> bool:
    return (frame.f_globals.get("__name__") or "").split(".")[0] == "numpy"
