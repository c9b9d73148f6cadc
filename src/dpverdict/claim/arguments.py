"""One reader of claims for all who write them: Python arguments, command-line options, TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverdict.claim.claim import Claim, EpsilonRange, Proportional, check_factor, usual_neighbourhood
from dpverdict.claim.compound_domain import of_length
from dpverdict.claim.delta import Delta, check_delta_on, delta_text, read_delta
from dpverdict.claim.domain import Anything, Domain
from dpverdict.claim.domain_text import domain_from, length_in
from dpverdict.claim.exact_numbers import exact, number, text_of
from dpverdict.claim.guarantee import Approximate, Guarantee, Pure, check_delta, check_epsilon
from dpverdict.claim.guarantee_text import guarantee
from dpverdict.claim.neighbour_text import neighbourhood
from dpverdict.claim.written import Written, nearest
from dpverdict.errors import ClaimError

NAMES = ("claim", "epsilon", "delta", "adjacency", "domain", "length", "factor", "epsilon_range")

Style = Callable[[str], str]
"""How the name of an argument is shown: ``--delta``, ``delta=`` or ``delta =``."""


def from_arguments(**given: Any) -> Claim:
    """The claim of Python keyword arguments: the names are NAMES, the values texts or Python values."""
    return _claim(given, lambda name: f"{name}=")


def from_options(given: Mapping[str, str | None]) -> Claim:
    """The claim of command-line options, by name without dashes in front; None means that one was not given."""
    return _claim(given, lambda name: f"--{name.replace('_', '-')}")


def from_toml(path: str) -> Claim:
    """The claim of a TOML file whose keys are NAMES; numbers are read exactly."""
    place = Written.of("", path)
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"), parse_float=Decimal)
    except FileNotFoundError:
        raise _unreadable(place, f"there is no such file seen from {Path.cwd()}") from None
    except (OSError, ValueError) as error:
        raise _unreadable(place, f"{type(error).__name__}: {error}") from None
    try:
        return _claim(given, lambda name: f"{name.replace('_', '-')} =")
    except ClaimError as error:
        error.place = error.place or path
        raise


def _unreadable(place: Written, why: str) -> ClaimError:
    return place.error("CLAIM-090", "the claim's file cannot be read", why=why, fix='a TOML file: claim = "pure:1"')


def _claim(given: Mapping[str, Any], style: Style) -> Claim:
    named = {name.replace("-", "_"): value for name, value in given.items() if value is not None}
    for name, value in named.items():
        if name not in NAMES:
            raise Written.of(style(name), str(value)).error(
                "CLAIM-091",
                f"a claim has no {name}",
                why=f"a claim is made of {', '.join(NAMES)}",
                fix=style(nearest(name, NAMES) or "claim"),
            )
    domain = _domain(named, style)
    # The guarantee first: it is what people look at.
    promise, epsilon_range = _promise(named, style)
    if "adjacency" in named:
        return Claim(promise, neighbourhood(named["adjacency"], style("adjacency")), domain, epsilon_range)
    return Claim(promise, usual_neighbourhood(domain, style("adjacency")), domain, epsilon_range)


def _domain(named: Mapping[str, Any], style: Style) -> Domain:
    domain = domain_from(named["domain"], style("domain")) if "domain" in named else Anything()
    length = named.get("length")
    if length is None:
        return domain
    if type(length) not in (int, str):
        raise Written.of(style("length"), str(length)).error(
            "CLAIM-077",
            "not a length",
            note=f"a {type(length).__name__}",
            why="a length is a whole number, or a range like 0..3",
            fix=f"{style('length')} 3",
        )
    return of_length(domain, length_in(Written.of(style("length"), str(length))))


def _promise(named: Mapping[str, Any], style: Style) -> tuple[Guarantee | Proportional, EpsilonRange]:
    if "claim" in named:
        clash = next((name for name in ("epsilon", "delta", "factor") if name in named), None)
        if clash is not None:
            raise Written.of(style(clash), str(named[clash])).error(
                "CLAIM-092",
                f"{style('claim').rstrip('= ')} and {style(clash).rstrip('= ')} do not go together",
                why="the claim has its own numbers; epsilon, delta and factor are a short form of pure and approximate",
                fix=f"leave out {style(clash).rstrip('= ')}; the mechanism's own epsilon is one of its arguments",
            )
        promise = guarantee(named["claim"], style("claim"))
        return promise, _range(named, style, promise)
    if "epsilon" in named and "epsilon_range" in named:
        raise Written.of(style("epsilon_range"), str(named["epsilon_range"])).error(
            "CLAIM-093",
            "ε is given twice, as one value and as a range",
            why="a claim is about one ε or about a range",
            fix=f"leave out {style('epsilon').rstrip('= ')}",
        )
    factor = _number(named.get("factor", 1), style("factor"), check_factor)
    delta = read_delta(named.get("delta", 0), style("delta"))
    written = Written.of(
        style("delta"), delta_text(delta) if not isinstance(named.get("delta"), str) else named["delta"]
    )
    if isinstance(delta, Fraction):
        check_delta(delta, written)
    epsilon_range = _range(named, style, None)
    if isinstance(delta, Delta):
        check_delta_on(delta, epsilon_range.low, epsilon_range.high, written)
    return Proportional(factor, delta), epsilon_range


def _range(named: Mapping[str, Any], style: Style, promise: Guarantee | None) -> EpsilonRange:
    option = style("epsilon_range")
    if "epsilon" in named:
        epsilon = _number(named["epsilon"], style("epsilon"), check_epsilon)
        if epsilon == 0:
            raise Written.of(style("epsilon"), text_of(epsilon)).error(
                "CLAIM-094",
                "the mechanism's ε is above 0",
                why="epsilon stands for the claim's ε and, as a convenience, for the mechanism's",
                fix=f"{style('claim').rstrip('= ')} pure:0 for the claim that the input does not matter at all",
            )
        return EpsilonRange.one(epsilon)
    if "epsilon_range" in named:
        return _ends(named["epsilon_range"], option)
    if isinstance(promise, (Pure, Approximate)) and promise.epsilon > 0:
        return EpsilonRange.one(promise.epsilon)
    return EpsilonRange()


def _ends(given: Any, option: str) -> EpsilonRange:
    if isinstance(given, EpsilonRange):
        return given
    text = ",".join(map(str, given)) if isinstance(given, (list, tuple)) else str(given)
    written = Written.of(option, text)
    parts = written.split(",")
    if len(parts) > 2:
        raise written.error(
            "CLAIM-095", "a range of ε has two ends", why="it is written LO,HI or 0,inf", fix=f"{option} 0.1,2"
        )
    low = number(parts[0])
    high = None if len(parts) == 2 and parts[1].text == "inf" else number(parts[-1])
    try:
        return EpsilonRange(low, high)
    except ClaimError as error:
        error.excerpt = written.excerpt(f"got {text}")
        error.fix = f"{option} 0.1,2, or 0,inf for all"
        raise


def _number(value: Any, option: str, check: Callable[[Fraction, Written], None]) -> Fraction:
    exactly = exact(value, option)
    check(exactly, Written.of(option, value if isinstance(value, str) else text_of(exactly)))
    return exactly
