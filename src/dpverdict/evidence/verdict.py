"""What the answer to a claim is: refuted, proved or undecided, with its scope and what backs it."""

from __future__ import annotations

import json
import math
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, NoReturn, TypeAlias

from dpverdict.claim.claim import Claim
from dpverdict.claim.values import plain

Arithmetic: TypeAlias = Literal["real", "as-run"]
"""What was judged: the mechanism over the real numbers, or the code as it ran."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What exactly was judged: the claim's inputs, neighbours and values of ε, and the arithmetic."""

    claim: Claim
    arithmetic: Arithmetic
    replayable: bool = True

    def to_json(self) -> dict[str, object]:
        """The scope's keys of a verdict."""
        return {**self.claim.scope_to_json(), "arithmetic": self.arithmetic, "replayable": self.replayable}


@dataclass(frozen=True, slots=True)
class Witness:
    """Two neighbouring inputs and an event that the claim cannot explain; ε where the mechanism has one."""

    input: object
    neighbour: object
    event: Mapping[str, object]
    epsilon: Fraction | None

    def to_json(self) -> dict[str, object]:
        """The witness's keys of a verdict."""
        return {
            "input": plain(self.input),
            "neighbour": plain(self.neighbour),
            "event": dict(self.event),
            "epsilon": None if self.epsilon is None else str(self.epsilon),
        }


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known beside the answer itself; every part may be missing."""

    lower_bound: float | None = None
    upper_bound: float | None = None
    tight_factor: Fraction | float | None = None
    power_epsilon: float | None = None
    alpha: float | None = None
    runs: int = 0
    seconds: float = 0.0
    seed: int | None = None
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(ABC):
    """The answer; its attributes and `to_json` have the names of DESIGN's JSON.

    It has no truth value: "not refuted" is not "private", so whoever asks has to say which of the three is meant.
    """

    verdict: ClassVar[str]

    scope: Scope
    method: str
    engine: str
    measured: Measured = field(default_factory=Measured)
    certificate: str | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError(f"a verdict is neither true nor false: compare .verdict, which is {self.verdict!r}")

    def __getattr__(self, name: str) -> Any:
        # Reached only for names that are no fields: the parts of `measured`, and keys that another verdict has.
        if name in Measured.__dataclass_fields__:
            return getattr(self.measured, name)
        if name in ("witness", "probabilities", "reason"):
            return None
        raise AttributeError(f"a verdict has no {name!r}; it has {', '.join(self.to_json())}")

    @property
    def claim(self) -> dict[str, object]:
        """The guarantee that was judged, as in the JSON."""
        return self.scope.claim.to_json()

    def _own(self) -> dict[str, object]:
        """The keys that only this kind of verdict has."""
        return {}

    def to_json(self) -> dict[str, object]:
        """DESIGN's JSON of a verdict."""
        measured = self.measured
        return {
            "verdict": self.verdict,
            "claim": self.claim,
            "scope": self.scope.to_json(),
            "lower_bound": _finite(measured.lower_bound),
            "upper_bound": _finite(measured.upper_bound),
            "alpha": measured.alpha,
            "method": self.method,
            "witness": None,
            "probabilities": None,
            **self._own(),
            "runs": measured.runs,
            "seconds": measured.seconds,
            "engine": self.engine,
            "seed": measured.seed,
            "tight_factor": _factor(measured.tight_factor),
            "power_epsilon": _finite(measured.power_epsilon),
            "certificate": self.certificate,
            "reason": None,
            **({"reason": self.reason} if isinstance(self, Undecided) else {}),
            "findings": list(measured.findings),
        }

    def text(self) -> str:
        """The JSON as one line."""
        return json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuted(Verdict):
    """The claim is wrong, and the witness shows it."""

    verdict = "refuted"

    witness: Witness
    probabilities: Mapping[str, object]

    def _own(self) -> dict[str, object]:
        return {"witness": self.witness.to_json(), "probabilities": dict(self.probabilities)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved(Verdict):
    """The claim holds for everything in the scope."""

    verdict = "proved"

    checked: Checked

    def __post_init__(self) -> None:
        if self.checked.open or not self.checked.settled:
            raise ValueError(f"a proof settles every comparison, and {self.checked.open} are open")

    @property
    def comparisons(self) -> int:
        """How many different inequalities the proof consists of."""
        return self.checked.settled

    def _own(self) -> dict[str, object]:
        return {"comparisons": self.comparisons}


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided(Verdict):
    """Neither: why, and what is known all the same."""

    verdict = "undecided"

    reason: str
    partial: Mapping[str, object] = field(default_factory=dict)

    def _own(self) -> dict[str, object]:
        return {"partial": dict(self.partial)} if self.partial else {}


@dataclass(frozen=True, slots=True)
class Checked:
    """What the kernel says of a proof: how many comparisons it settled itself, and how many it could not; and for how
    many it confirmed the probabilities in a second way."""

    settled: int
    open: int
    confirmed: int = 0


def _finite(value: float | None) -> float | str | None:
    return "inf" if value is not None and math.isinf(value) else value


def _factor(value: Fraction | float | None) -> str | None:
    if value is None:
        return None
    return str(value) if isinstance(value, Fraction) else "inf" if math.isinf(value) else repr(value)
