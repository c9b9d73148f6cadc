"""What the catalogue says about one published mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from dpverdict.errors import UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import FunctionBox

if TYPE_CHECKING:
    from dpverdict.claim import Claim


GROUPS = {"statdp": "StatDP", "sniper": "DP-Sniper", "finder": "DP-Finder", "dipc": "DiPC"}
"""The prefixes of names, and the papers that they stand for."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication: its key in docs/references.bib, and a line for people."""

    key: str
    readable: str

    def __str__(self) -> str:
        return f"{self.readable} [{self.key}]"


@dataclass(frozen=True, slots=True)
class Promise:
    """What a publication claims: a guarantee whose first number is coefficient · ε^power; power 0 makes it a constant.

    `kind` is a word of --claim.  `delta_text` is δ as the publication writes it, where it is no rational number: then
    `delta` is a rational a little above it, so that what holds for the publication's δ holds for the claim's.
    """

    kind: str = "pure"
    coefficient: Fraction = Fraction(1)
    power: int = 1
    delta: Fraction = Fraction(0)
    delta_text: str = ""

    @property
    def text(self) -> str:
        """As --claim takes it, but with `epsilon` for the mechanism's parameter: ``pure:epsilon``."""
        number = _decimal(self.coefficient) if self.power == 0 else _product(self.coefficient, self.power)
        delta = self.delta_text or _decimal(self.delta)
        return f"{self.kind}:{number}{f',{delta}' if self.delta else ''}"

    def arguments(self, epsilon: Fraction | None) -> dict[str, object]:
        """The claim's arguments where ε has this value, or for every ε."""
        if self.power == 1 and self.kind in ("pure", "approximate"):
            return {"factor": self.coefficient, "delta": self.delta}
        assert self.power == 0 or epsilon is not None, f"{self.text} is another guarantee for each ε"
        number = self.coefficient * (epsilon or Fraction(1)) ** self.power
        return {"claim": f"{self.kind}:{number}{f',{self.delta}' if self.delta else ''}"}


def _decimal(number: Fraction) -> str:
    return str(number) if number.denominator in (1, 2, 4, 8) else f"{float(number):g}".replace("e-0", "e-")


def _product(coefficient: Fraction, power: int) -> str:
    symbol = "epsilon" if power == 1 else f"epsilon^{power}"
    return symbol if coefficient == 1 else f"{coefficient}*{symbol}"


class Kind(Enum):
    """What a truth says."""

    HOLDS = "holds"
    FAILS = "fails"
    EXACT = "exact"
    UPPER = "upper bound"
    LOWER = "lower bound"
    NOT_PRIVATE = "not private"


@dataclass(frozen=True, slots=True)
class Truth:
    """Something that is known: whether the claim holds, or how large the privacy loss is, as a pure ε.

    `about` says for which inputs and which ε, in words; empty, it is about those of the claim.  The loss is `factor`
    times ε for every ε, or `value` (which may be infinite) at the entry's ε, or only an expression, `loss`.  EXACT is
    a supremum that was derived or computed exactly, never an estimate.
    """

    kind: Kind
    sentence: str
    source: Paper | None = None
    about: str = ""
    factor: Fraction | None = None
    value: float | None = None
    loss: str = ""

    def at(self, epsilon: Fraction | float | None) -> float | None:
        """The loss at this ε, None where the truth gives no number for it."""
        if self.factor is not None and epsilon is not None:
            return float(self.factor * Fraction(epsilon))
        return self.value


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Two neighbours and an output, or an event in words, that the claim cannot explain at this ε."""

    input: object
    neighbour: object
    output: object
    epsilon: str
    source: Paper | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A result that a publication reports for the entry: a lower bound, a verdict, a time, and the table."""

    tool: str
    table: str
    source: Paper
    lower_bound: float | None = None
    verdict: str = ""
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One mechanism, the claim about it, and what is known to be true of it.

    `paper` is where the entry, with its parameters, comes from, and `algorithm` the name that the paper has for it.
    The claim is `promise` for all inputs in `domain` (for vectors: entries in it, and a `length`), `adjacency` saying
    which are neighbours, and for the mechanism's ε in `epsilon`: one value (``0.1``) or two ends (``0,inf``).
    `example` and `neighbour` are two neighbours.  `holds` is whether the claim is true, None where nobody knows.
    `why_black_box` is the reason why a mechanism cannot be looked into.
    """

    name: str
    title: str
    mechanism: Mechanism | FunctionBox
    paper: Paper
    example: object
    neighbour: object
    truths: tuple[Truth, ...]
    holds: bool | None
    algorithm: str = ""
    promise: Promise = Promise()
    adjacency: str = "linf:1"
    domain: str = "real"
    length: int | str | None = None
    epsilon: str = "0,inf"
    counterexamples: tuple[Counterexample, ...] = ()
    published: tuple[Published, ...] = ()
    notes: str = ""
    why_black_box: str = ""

    @property
    def group(self) -> str:
        """The paper whose evaluation the entry is part of, as its prefix says; empty for what people use."""
        return GROUPS.get(self.name.partition("-")[0], "")

    @property
    def vector(self) -> bool:
        """Whether inputs are vectors."""
        return self.length is not None

    @property
    def at(self) -> Fraction | None:
        """The ε of the paper's parameters, None where the claim is about more than one."""
        return None if "," in self.epsilon else Fraction(self.epsilon)

    @property
    def arguments(self) -> Mapping[str, object]:
        """The paper's values of the mechanism's other parameters, where they are not its defaults."""
        return self.mechanism.defaults if isinstance(self.mechanism, Mechanism) else self.mechanism.given

    def claim(self) -> Claim:
        """The claim, for the ε of the entry."""
        from dpverdict.claim import from_arguments

        inputs = {"domain": self.domain, "adjacency": self.adjacency, "epsilon_range": self.epsilon}
        if self.length is not None:
            inputs["length"] = str(self.length)
        return from_arguments(**self.promise.arguments(self.at), **inputs)

    def why_no_program(self) -> UntraceableError:
        """What to say about an entry that can only be run."""
        return UntraceableError(
            "MECH-110",
            f"{self.name} cannot be looked into: it is written as a black box",
            why=self.why_black_box,
            fix=f"dpverdict sample catalog:{self.name}, which runs it",
        )
