"""dpverdict judges whether an algorithm is as private as it claims."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpverdict.auditing.front import assert_private as assert_private
    from dpverdict.auditing.front import audit as audit
    from dpverdict.auditing.front import lower_bound as lower_bound
    from dpverdict.confirming import confirm as confirm
    from dpverdict.exact_distribution import ExactDistribution as ExactDistribution
    from dpverdict.exact_distribution import distribution as distribution
    from dpverdict.mechanism import Mechanism as Mechanism
    from dpverdict.mechanism.calling import single_run as single_run
    from dpverdict.mechanism.calling import vectorised as vectorised
    from dpverdict.mechanism.front import mechanism as mechanism
    from dpverdict.mechanism.functions import argmax as argmax
    from dpverdict.mechanism.functions import argmin as argmin
    from dpverdict.mechanism.functions import choose as choose
    from dpverdict.mechanism.functions import discretise as discretise
    from dpverdict.mechanism.functions import exp as exp
    from dpverdict.mechanism.functions import log as log
    from dpverdict.mechanism.functions import maximum as maximum
    from dpverdict.mechanism.functions import minimum as minimum
    from dpverdict.mechanism.functions import sqrt as sqrt
    from dpverdict.proving import prove as prove
    from dpverdict.verification import Verification as Verification
    from dpverdict.verification import verify as verify

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(("assert_private", "audit", "lower_bound"), "dpverdict.auditing.front"),
    "confirm": "dpverdict.confirming",
    **dict.fromkeys(("ExactDistribution", "distribution"), "dpverdict.exact_distribution"),
    "Mechanism": "dpverdict.mechanism.front",
    **dict.fromkeys(("single_run", "vectorised"), "dpverdict.mechanism.calling"),
    **dict.fromkeys(
        ("argmax", "argmin", "choose", "discretise", "exp", "log", "maximum", "minimum", "sqrt"),
        "dpverdict.mechanism.functions",
    ),
    "prove": "dpverdict.proving",
    **dict.fromkeys(("Verification", "verify"), "dpverdict.verification"),
}

__all__ = [
    "ExactDistribution",
    "Mechanism",
    "Verification",
    "__version__",
    "argmax",
    "argmin",
    "assert_private",
    "audit",
    "choose",
    "confirm",
    "discretise",
    "distribution",
    "exp",
    "log",
    "lower_bound",
    "maximum",
    "mechanism",
    "minimum",
    "prove",
    "single_run",
    "sqrt",
    "vectorised",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "mechanism":
        return importlib.import_module("dpverdict.mechanism")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
