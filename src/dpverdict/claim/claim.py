"""A claim: what is promised, for which neighbours, among which inputs, at which values of the mechanism's ε."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpverdict.claim.compound_domain import Record, Vector
from dpverdict.claim.delta import Delta, check_delta_on, delta_json, delta_text, read_delta
from dpverdict.claim.domain import Anything, Domain
from dpverdict.claim.exact_numbers import exact, json_of, text_of
from dpverdict.claim.finite import Finite
from dpverdict.claim.guarantee import Approximate, Guarantee, Pure, Rate, check_delta
from dpverdict.claim.lists import Substitute
from dpverdict.claim.neighbours import MaxNorm, Neighbourhood, Pair
from dpverdict.claim.patterns import Pattern
from dpverdict.claim.relations import AnyPair
from dpverdict.claim.written import Written


@dataclass(frozen=True)
class EpsilonRange:
    """Values of the mechanism's ε: one, or all between two ends.  0 and infinity lie outside, other ends inside."""

    low: Fraction = Fraction(0)
    high: Fraction | None = None

    def __post_init__(self) -> None:
        low = exact(self.low, "epsilon_range=")
        high = None if self.high is None else exact(self.high, "epsilon_range=")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if low < 0 or (high is not None and (high < low or high == 0)):
            raise Written.of("epsilon_range=", self.text).error(
                "CLAIM-080",
                "a range of ε lies above 0 and starts at its lower end",
                why="a mechanism's ε is a positive number",
                fix="epsilon_range=0.1,2, or 0,inf for all",
            )

    @classmethod
    def one(cls, epsilon: Fraction) -> EpsilonRange:
        """A single value."""
        return cls(epsilon, epsilon)

    @property
    def only(self) -> Fraction | None:
        """The single value, None if there are more."""
        return self.low if self.low == self.high else None

    @property
    def text(self) -> str:
        """``0,inf``, ``0.1,2``, or ``1`` for a single value."""
        low = text_of(self.low)
        return low if self.only is not None else f"{low},{'inf' if self.high is None else text_of(self.high)}"

    def to_json(self) -> list[str]:
        """The two ends as texts."""
        return [text_of(self.low), "inf" if self.high is None else text_of(self.high)]

    def __contains__(self, epsilon: object) -> bool:
        inside = isinstance(epsilon, (int, float, Fraction)) and epsilon > 0 and epsilon >= self.low
        return inside and (self.high is None or epsilon <= self.high)  # type: ignore[operator]


@dataclass(frozen=True)
class Proportional:
    """(t·ε, δ)-differential privacy, ε being the mechanism's own parameter: a promise for each value of it.

    δ is a rational, or a function of ε.
    """

    factor: Fraction = Fraction(1)
    delta: Fraction | Delta = Fraction(0)

    def __post_init__(self) -> None:
        factor, delta = exact(self.factor, "factor="), read_delta(self.delta, "delta=")
        check_factor(factor, Written.of("factor=", text_of(factor)))
        if isinstance(delta, Fraction):
            check_delta(delta, Written.of("delta=", text_of(delta)))
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "delta", delta)

    def at(self, epsilon: Fraction) -> Guarantee:
        """The promise at one value of ε; a δ that is irrational there is rounded up, so that what contradicts the
        promise contradicts the claim."""
        promised, delta = self.factor * epsilon, self.delta
        if isinstance(delta, Delta):
            return Approximate(promised, delta.rounded_up(epsilon))
        return Pure(promised) if delta == 0 else Approximate(promised, delta)


def check_factor(value: Fraction, written: Written) -> None:
    """Refuse a factor that makes no promise."""
    if value <= 0:
        raise written.error(
            "CLAIM-081",
            "a factor is above 0",
            why="the claim is (factor·ε, δ)-differential privacy",
            fix=written.instead("1"),
        )


EVERY_INPUT = Anything()
EVERY_EPSILON = EpsilonRange()


@dataclass(frozen=True)
class Claim:
    """Everything that a mechanism is judged against."""

    guarantee: Guarantee | Proportional
    neighbourhood: Neighbourhood
    domain: Domain = EVERY_INPUT
    epsilon_range: EpsilonRange = EVERY_EPSILON

    def __post_init__(self) -> None:
        delta = self.guarantee.delta if isinstance(self.guarantee, Proportional) else None
        if isinstance(delta, Delta):
            check_delta_on(delta, self.epsilon_range.low, self.epsilon_range.high, Written.of("delta=", delta.text))
        why = self.neighbourhood.why_useless(self.domain)
        if why is not None:
            raise Written.of("adjacency=", self.neighbourhood.text).error(
                "CLAIM-082",
                "the neighbourhood and the domain do not fit together",
                note=f"the domain is {self.domain.text}",
                why=why,
                fix="--adjacency any, or substitute:1 for lists, or another --domain",
            )

    def guarantee_at(self, epsilon: Fraction | None = None) -> Guarantee:
        """What is promised where the mechanism's ε has this value; without one, at the only value of the range."""
        if isinstance(self.guarantee, Guarantee):
            return self.guarantee
        at = self.epsilon_range.only if epsilon is None else epsilon
        if at is None:
            raise Written.of("epsilon=", "None").error(
                "CLAIM-083",
                "the claim is a different one for each ε",
                note="which ε?",
                why=f"it is about all ε in {self.epsilon_range.text}",
                fix="epsilon=1",
            )
        return self.guarantee.at(at)

    def contradicts(self, rate: Rate, neighbour_rate: Rate, epsilon: Fraction | None = None) -> bool:
        """Whether Pr[S | a] ≥ rate and Pr[S | a′] ≤ neighbour_rate contradict the claim for neighbours (a, a′)."""
        return self.guarantee_at(epsilon).contradicts(rate, neighbour_rate, both_ways=self.neighbourhood.symmetric)

    def contradicts_distributions(self, law: Finite, neighbour_law: Finite, epsilon: Fraction | None = None) -> bool:
        """Whether the exact laws of the outputs of neighbours (a, a′) contradict the claim."""
        promise = self.guarantee_at(epsilon)
        return promise.contradicts_distributions(law, neighbour_law, both_ways=self.neighbourhood.symmetric)

    def why_not_about(self, a: Any, b: Any) -> str | None:
        """Why the claim says nothing about this ordered pair, None if it does."""
        for value in (a, b):
            outside = self.domain.why_outside(value)
            if outside is not None:
                return f"outside the domain: {outside}"
        return self.neighbourhood.why_not(a, b)

    def patterns(self) -> list[Pattern]:
        """StatDP's patterns of neighbours inside the domain."""
        return self.neighbourhood.patterns(self.domain)

    def pairs(self) -> Iterator[Pair]:
        """All ordered pairs of neighbours of a finite domain."""
        return self.neighbourhood.pairs(self.domain)

    def to_json(self) -> dict[str, object]:
        """DESIGN's JSON of a claim; for Rényi, zCDP, Gaussian and curves with their own numbers."""
        if isinstance(self.guarantee, Guarantee):
            return {**self.guarantee.to_json(), "factor": "1"}
        only = self.epsilon_range.only
        return {
            "guarantee": "approximate" if self.guarantee.delta else "pure",
            "epsilon": None if only is None else json_of(only),
            "delta": delta_json(self.guarantee.delta),
            "factor": text_of(self.guarantee.factor),
        }

    def scope_to_json(self) -> dict[str, object]:
        """The claim's part of DESIGN's JSON of a scope."""
        domain, length = self.domain, None
        if isinstance(domain, Vector) and domain.shortest == domain.longest:
            length, domain = domain.longest, domain.item
        return {
            "domain": domain.to_json(),
            "length": length,
            "adjacency": self.neighbourhood.text,
            "epsilon_range": self.epsilon_range.to_json(),
        }

    def arguments(self) -> dict[str, str]:
        """The texts from which ``from_arguments`` makes this claim again, if all its objects have names."""
        common = {"adjacency": self.neighbourhood.text, "domain": self.domain.text}
        if isinstance(self.guarantee, Guarantee):
            return {"claim": self.guarantee.text, **common, "epsilon_range": self.epsilon_range.text}
        promise = {"factor": text_of(self.guarantee.factor), "delta": delta_text(self.guarantee.delta)}
        return {**promise, **common, "epsilon_range": self.epsilon_range.text}


def usual_neighbourhood(domain: Domain, option: str) -> Neighbourhood:
    """What neighbours are where nobody says it: for numbers linf:1, for other lists substitute:1, else any pair."""
    if isinstance(domain, Record):
        raise Written.of(option, "").error(
            "CLAIM-084",
            "which records are neighbours?",
            note="nothing here",
            why="for records there is no usual neighbourhood",
            fix=f"{option} any, or linf:1 for records of numbers, or substitute:1 for one field",
        )
    if domain.numeric or (isinstance(domain, Vector) and domain.item.numeric):
        return MaxNorm()
    return Substitute() if isinstance(domain, Vector) else AnyPair()
