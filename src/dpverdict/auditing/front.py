"""`dpverdict.audit`, `dpverdict.lower_bound` and `dpverdict.assert_private`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpverdict.auditing.conductor import Inputs, bounded, judged
from dpverdict.auditing.subject import BOUND_ALPHA, RUNS, VERDICT_ALPHA, Budget, Subject, subject_of
from dpverdict.claim import Claim, from_arguments
from dpverdict.claim.values import plain
from dpverdict.errors import UsageError
from dpverdict.evidence.allowance import error_probability
from dpverdict.evidence.verdict import Refuted, Verdict
from dpverdict.mechanism.surroundings import user_code
from dpverdict.proving import OUT
from dpverdict.target import load_runnable, runnable


def audit(target: Any, *, args: Mapping[str, Any] | None = None, runs: int = RUNS, **options: Any) -> Verdict:
    """Refute a claim, prove it, or say why neither could be done and what would have been found.

    `target` is a mechanism, a function, or a TARGET.  The other arguments are those of a claim (`claim=`, `epsilon=`,
    `delta=`, `adjacency=`, `domain=`, `length=`), a pair (`input=`, `neighbour=`), and `alpha=` (1e-6), `seed=`,
    `workers=` and `out=`, the folder for the certificate, or None.
    """
    return judged(*_asked(target, args, {"runs": runs, "alpha": VERDICT_ALPHA, **options}))


def lower_bound(target: Any, *, args: Mapping[str, Any] | None = None, runs: int = RUNS, **options: Any) -> Verdict:
    """The largest ε that so many runs certify to be exceeded, as `.lower_bound`; `alpha=` is 0.05.

    The arguments are those of `audit`; the claim says which inputs are neighbours, what δ is, and at which ε the
    mechanism runs.
    """
    return bounded(*_asked(target, args, {"runs": runs, "alpha": BOUND_ALPHA, **options}))


def assert_private(target: Any, **options: Any) -> None:
    """Raise AssertionError if `audit` refutes the claim; for test suites, so nothing is written to disk.

    That nothing is raised is no proof: `audit` says what would have been found.
    """
    verdict = audit(target, **{"out": None, **options})
    if isinstance(verdict, Refuted):
        one, other = (plain(given) for given in (verdict.witness.input, verdict.witness.neighbour))
        raise AssertionError(
            f"not private as claimed ({verdict.scope.claim.arguments()}): the privacy loss is at least "
            f"{verdict.lower_bound} on {one!r} and {other!r}, by {verdict.method}, α = {verdict.alpha}"
        )


_BUDGET = ("runs", "seed", "workers")


def _asked(
    target: Any, args: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> tuple[Subject, Claim, Budget, Inputs]:
    """What the arguments of a call ask for."""
    own = (*_BUDGET, "alpha", "out", "input", "neighbour")
    claim = from_arguments(**{name: value for name, value in options.items() if name not in own})
    with user_code():
        if isinstance(target, str):
            mechanism, name = load_runnable(target, None, args), target
        else:
            mechanism = runnable(target, args)
            name = f"{getattr(target, '__module__', type(target).__module__)}:{mechanism.name}"
    out = options.get("out", OUT)
    budget = Budget(
        alpha=error_probability(options["alpha"]),
        out=None if out is None else Path(out),
        **{key: options[key] for key in _BUDGET if key in options},
    )
    return subject_of(name, mechanism, args or {}, claim), claim, budget, pair_of(options)


def pair_of(options: Mapping[str, Any]) -> Inputs:
    """The pair that was asked for; both inputs or none."""
    given = [name for name in ("input", "neighbour") if options.get(name) is not None]
    if len(given) == 1:
        raise UsageError(
            "USAGE-042",
            f"{given[0]} is given without the other input",
            why="a claim is about two neighbouring inputs",
            fix="input=[0, 1], neighbour=[1, 1]; or neither, and the claim's patterns are tried",
        )
    return (options["input"], options["neighbour"]) if given else None
