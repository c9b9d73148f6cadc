"""The CLAIM grammar: ``pure:1``, ``approximate:1,1e-5``, ``zcdp:1/8``, ``renyi:2,1``, ``gaussian:0.5``, ``curve:…``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from dpverdict.claim.curve import ProfilePoints, TradeOffPoints
from dpverdict.claim.curve_source import curve, curve_of
from dpverdict.claim.divergence import Renyi, ZeroConcentrated, check_alpha, check_rho
from dpverdict.claim.exact_numbers import number
from dpverdict.claim.gaussian import Gaussian, check_mu
from dpverdict.claim.guarantee import Approximate, Guarantee, Pure, check_delta, check_epsilon
from dpverdict.claim.written import Written, nearest

Check = Callable[[Fraction, Written], None]

FORMS: dict[str, tuple[Callable[..., Guarantee], tuple[tuple[str, Check], ...], str]] = {
    "pure": (Pure, (("E", check_epsilon),), "pure:1"),
    "approximate": (Approximate, (("E", check_epsilon), ("D", check_delta)), "approximate:1,1e-5"),
    "zcdp": (ZeroConcentrated, (("RHO", check_rho),), "zcdp:1/8"),
    "renyi": (Renyi, (("ALPHA", check_alpha), ("E", check_epsilon)), "renyi:2,1"),
    "gaussian": (Gaussian, (("MU", check_mu),), "gaussian:0.5"),
}
"""For each form: what it makes, its numbers in order, and an example."""

_WORDS = (*FORMS, "curve")


def guarantee(claim: Any, option: str = "claim=") -> Guarantee:
    """The guarantee that is written as text, or given as a Python value (see docs/claims.md)."""
    match claim:
        case Guarantee():
            return claim
        case str():
            return parse(Written.of(option, claim))
        case Mapping() if len(claim) == 1 and next(iter(claim)) in ("profile", "trade-off"):
            form, points = next(iter(claim.items()))
            return ProfilePoints(points) if form == "profile" else TradeOffPoints(points)
        case _:
            name = f"{getattr(claim, '__module__', '')}:{getattr(claim, '__qualname__', type(claim).__qualname__)}"
            return curve_of(claim, name.lstrip(":"), Written.of(option, repr(claim)[:60]))


def parse(written: Written) -> Guarantee:
    """The guarantee that a CLAIM text names.  Raises ClaimError that points at the part that is wrong."""
    word, rest = written.cut(":")
    kind = word.text.lower()
    if kind not in _WORDS:
        raise _unknown(written, word)
    if kind == "curve":
        return curve(rest or written.part(len(written.text)))
    make, numbers, example = FORMS[kind]
    parts = rest.split(",") if rest and rest.text else []
    if len(parts) != len(numbers):
        wanted = ",".join(name for name, _ in numbers)
        raise (rest or written.part(len(written.text))).error(
            "CLAIM-041",
            f"{kind} takes {len(numbers)} number{'s' if len(numbers) > 1 else ''}",
            note=f"got {len(parts)}",
            why=f"it is written {kind}:{wanted}",
            fix=written.with_value(example),
        )
    values = []
    for part, (_, check) in zip(parts, numbers, strict=True):
        value = number(part)
        check(value, part)
        values.append(value)
    return make(*values)


def _unknown(written: Written, word: Written) -> Exception:
    near = nearest(word.text, _WORDS)
    example = {"curve": "curve:profile.csv"} | {kind: form[2] for kind, form in FORMS.items()}
    return word.error(
        "CLAIM-040",
        "not a guarantee" if word.text else "a guarantee is missing",
        why=f"a claim starts with {', '.join(_WORDS[:-1])} or curve, and a colon",
        fix=written.with_value(example[near or "pure"]),
    )
