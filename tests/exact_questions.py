"""Questions for the exact decision, as tests ask them."""

from __future__ import annotations

from typing import Any

from dpverdict.catalog import find
from dpverdict.claim import from_arguments
from dpverdict.mechanism import Mechanism
from dpverdict.proving import Question


def question(mechanism: str | Mechanism, length: int | None = 3, *, prune: bool = True, **given: Any) -> Question:
    """A question about a mechanism of the catalogue (by name) or one's own, on {-1, 0, 1} if nothing else is said."""
    found = find(mechanism).mechanism if isinstance(mechanism, str) else mechanism
    assert isinstance(found, Mechanism)
    arguments = given.pop("args", {})
    claim = {"domain": "-1,0,1", **given}
    if length is not None:
        claim["length"] = str(length)
    target = f"catalog:{mechanism}" if isinstance(mechanism, str) else f"tests:{found.name}"
    return Question(target, found, found.arguments(arguments), from_arguments(**claim), prune)
