"""``dpverdict audit``: judge claims; ``dpverdict lower-bound``: how large the privacy loss is at least."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

import typer

from dpverdict.auditing.conductor import Inputs, bounded, judged
from dpverdict.auditing.subject import FEWEST_RUNS, RUNS, Budget, subject_of
from dpverdict.auditing.subject import Subject as Audited
from dpverdict.claim import Claim
from dpverdict.claim.values import plain
from dpverdict.cli import claimed, options
from dpverdict.cli.statuses import DONE, NOT_MET, REFUTED
from dpverdict.cli.subject import Subject, find_runnable
from dpverdict.cli.values import Typed
from dpverdict.errors import DPVerdictError, UsageError
from dpverdict.evidence.allowance import error_probability
from dpverdict.evidence.verdict import Proved, Refuted, Undecided, Verdict
from dpverdict.execute.cancellation import cancel_on_signals
from dpverdict.execute.run import Oversight
from dpverdict.mechanism.black_box import Options
from dpverdict.mechanism.observe import observer
from dpverdict.mechanism.surroundings import user_code
from dpverdict.proving import OUT

Claims = Annotated[
    list[str] | None, typer.Option("--claim", metavar="CLAIM", help="pure:1, zcdp:1/8, gaussian:0.5, … (repeatable)")
]
Neighbour = Annotated[str | None, typer.Option("--neighbour", metavar="I", help="the neighbour of --input")]
HowMany = Annotated[str, typer.Option("--runs", metavar="N", help="how many runs in all; 1e6 will do")]
Alpha = Annotated[str, typer.Option("--alpha", metavar="A", help="the probability with which the answer may be wrong")]
Seed = Annotated[str, typer.Option("--seed", metavar="K", help="a whole number, or random")]
Workers = Annotated[str | None, typer.Option("--workers", metavar="N", help="threads or processes (one for each core)")]
Observe = Annotated[
    str | None, typer.Option("--observe", metavar="F", help="module:function of an output: what is looked at")
]
Require = Annotated[
    str | None, typer.Option("--require", metavar="proved|power", help="exit with 4 unless it is proved, or has power")
]
Out = Annotated[str, typer.Option("--out", metavar="DIR", help="the folder for certificates")]


def audit(
    target: options.Runnable,
    claim: Claims = None,
    epsilon: claimed.Epsilon = None,
    delta: claimed.Delta = None,
    adjacency: claimed.Adjacency = None,
    domain: claimed.Domain = None,
    length: claimed.Length = None,
    arguments: options.Arguments = None,
    input_text: options.Input = None,
    neighbour: Neighbour = None,
    runs: HowMany = str(RUNS),
    alpha: Alpha = "1e-6",
    seed: Seed = "1",
    workers: Workers = None,
    observe: Observe = None,
    require: Require = None,
    out: Out = OUT,
    as_json: options.Json = False,
) -> str | tuple[str, int]:
    """Refute a claim, prove it, or say what would have been found."""
    _check_require(require)
    texts = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "domain": domain, "length": length}
    subject = _find(target, arguments, observe)
    typed: list[str | None] = [*claim] if claim else [None]
    claims = [_claim(subject, {**texts, "claim": text}) for text in typed]
    inputs = _inputs(subject, input_text, neighbour)
    budget = _budget((runs, alpha, seed, workers, out), len(claims))
    with cancel_on_signals() as cancel:
        watched = replace(budget, oversight=Oversight(None, cancel))
        verdicts = [judged(_audited(subject, each), each, watched, inputs) for each in claims]
    verdict = _decisive(verdicts)
    status = REFUTED if isinstance(verdict, Refuted) else DONE if _is_met(require, verdict) else NOT_MET
    return (_json(verdict, verdicts) if as_json else "\n".join(_shown(target, verdicts))), status


def lower_bound(
    target: options.Runnable,
    epsilon: claimed.Epsilon = None,
    delta: claimed.Delta = None,
    adjacency: claimed.Adjacency = None,
    domain: claimed.Domain = None,
    length: claimed.Length = None,
    arguments: options.Arguments = None,
    input_text: options.Input = None,
    neighbour: Neighbour = None,
    runs: HowMany = str(RUNS),
    alpha: Alpha = "0.05",
    seed: Seed = "1",
    workers: Workers = None,
    observe: Observe = None,
    out: Out = OUT,
    as_json: options.Json = False,
) -> str:
    """Certify the largest ε that the runs show to be exceeded."""
    subject = _find(target, arguments, observe)
    texts = {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "domain": domain, "length": length}
    asked = _claim(subject, texts)
    inputs, budget = _inputs(subject, input_text, neighbour), _budget((runs, alpha, seed, workers, out), 1)
    with cancel_on_signals() as cancel:
        watched = replace(budget, oversight=Oversight(None, cancel))
        verdict = bounded(_audited(subject, asked), asked, watched, inputs)
    return verdict.text() if as_json else "\n".join(_bound_lines(target, verdict))


# --- what was typed --------------------------------------------------------------------------------------------------


def _find(target: str, arguments: Sequence[str] | None, observe: str | None) -> Subject[Any]:
    with user_code():
        how = Options(observer(observe))
    return find_runnable(target, arguments, how)


def _claim(subject: Subject[Any], given: Mapping[str, str | None]) -> Claim:
    return claimed.claim_of(given, claimed.brought_by(subject))


def _audited(subject: Subject[Any], claim: Claim) -> Audited:
    """The mechanism with its ε: that of --arg, of the claim, or of the catalogue's entry."""
    arguments, name = dict(subject.arguments), subject.epsilon_name
    at = None if subject.entry is None else subject.entry.at
    if name is not None and name not in arguments and at in claim.epsilon_range and claim.epsilon_range.only is None:
        arguments[name] = at
    return subject_of(subject.target, subject.mechanism, arguments, claim)


def _inputs(subject: Subject[Any], text: str | None, neighbour: str | None) -> Inputs:
    if (text is None) != (neighbour is None):
        option, missing = ("--input", "--neighbour") if neighbour is None else ("--neighbour", "--input")
        raise UsageError(
            "USAGE-042",
            f"{missing} is missing",
            excerpt=Typed(option, str(text or neighbour)).whole(f"without {missing}"),
            why="a claim is about two neighbouring inputs",
            fix="both of them; or neither, and the claim's patterns are tried",
        )
    return None if text is None else (subject.input_from(text), subject.input_from(neighbour, "--neighbour"))


def _budget(texts: tuple[str, str, str, str | None, str], claims: int) -> Budget:
    """What each of the claims may spend: they share runs and error probability."""
    runs, alpha, seed, workers, out = texts
    count = options.runs(runs) // claims
    if count < FEWEST_RUNS:
        raise UsageError(
            "USAGE-040",
            "these are too few runs for an audit",
            excerpt=Typed("--runs", runs).whole(f"{count:,} for each claim"),
            why="some are for learning, some for the checks of independence, and the rest has to decide",
            fix=f"--runs {FEWEST_RUNS * claims}",
        )
    return Budget(count, _alpha(alpha) / claims, options.seed(seed), options.workers(workers), options.folder(out))


def _alpha(text: str) -> Fraction:
    try:
        return error_probability(text)
    except DPVerdictError as error:
        error.excerpt, error.place = Typed("--alpha", text).whole(f"got {text}"), None
        error.fix = "--alpha 1e-6"
        raise


def _check_require(require: str | None) -> None:
    if require not in (None, "proved", "power"):
        raise UsageError(
            "USAGE-043",
            "--require takes one of two words",
            excerpt=Typed("--require", str(require)).whole(f"got {require}"),
            why="proved asks for a proof, power for a known size of what would have been found",
            fix="--require power",
        )


def _is_met(require: str | None, verdict: Verdict) -> bool:
    """Power is there if some ε would have been refuted; a proof has all of it."""
    if require is None or isinstance(verdict, Proved):
        return True
    power = verdict.power_epsilon
    return require == "power" and power is not None and power < float("inf")


# --- what is shown ---------------------------------------------------------------------------------------------------


def _decisive(verdicts: Sequence[Verdict]) -> Verdict:
    """All claims hold only if each does: the first that is refuted decides, else the first that is undecided."""
    for kind in (Refuted, Undecided):
        for verdict in verdicts:
            if isinstance(verdict, kind):
                return verdict
    return verdicts[0]


def _json(verdict: Verdict, verdicts: Sequence[Verdict]) -> str:
    if len(verdicts) == 1:
        return verdict.text()
    whole = {**verdict.to_json(), "claims": [each.to_json() for each in verdicts]}
    return json.dumps(whole, ensure_ascii=False, allow_nan=False)


def _shown(target: str, verdicts: Sequence[Verdict]) -> list[str]:
    lines = [target]
    for verdict in verdicts:
        lines += ["", *_lines(verdict)]
    return lines


def _lines(verdict: Verdict) -> list[str]:
    claim = verdict.scope.claim
    said = claim.arguments()
    promise = said.get("claim") or f"({said['factor']}·ε, {said['delta']})-differential privacy"
    lines = [f"{verdict.verdict.upper()}: {promise}, ε in {claim.epsilon_range.text}"]
    lines += [f"  inputs {claim.domain.text}, neighbours {claim.neighbourhood.text}, {_arithmetic(verdict)}"]
    if isinstance(verdict, Undecided):
        lines.append(f"  {verdict.reason}")
    if isinstance(verdict, Refuted):
        lines += _witness(verdict)
    if verdict.power_epsilon is not None:
        lines.append(
            f"  this many runs would have refuted ε = {verdict.power_epsilon:.4g} on the events that were tried"
        )
    return lines + _rest(verdict)


def _witness(verdict: Refuted) -> list[str]:
    one, other = plain(verdict.witness.input), plain(verdict.witness.neighbour)
    found = verdict.probabilities
    at = "" if verdict.witness.epsilon is None else f" at ε = {verdict.witness.epsilon}"
    return [f"  on {one!r}{at}: {found['input']}", f"  on {other!r}: {found['neighbour']}"]


def _bound_lines(target: str, verdict: Verdict) -> list[str]:
    bound = verdict.lower_bound
    said = "the runs show none" if bound is None or bound <= 0 else f"at least {bound:.6g}"
    return [
        target,
        f"privacy loss: {said}",
        *_rest(replace(verdict, measured=replace(verdict.measured, lower_bound=None))),
    ]


def _rest(verdict: Verdict) -> list[str]:
    lines = []
    if verdict.lower_bound is not None:
        lines.append(f"  privacy loss: at least {verdict.lower_bound:.6g}")
    alpha = "" if verdict.alpha is None else f", wrong with probability at most {verdict.alpha:g}"
    lines.append(f"  {verdict.method}{alpha}; {verdict.runs:,} runs, {verdict.seconds:.2f} s")
    lines += [f"  note: {finding}" for finding in verdict.findings]
    return lines + ([f"  certificate: {verdict.certificate}"] if verdict.certificate else [])


def _arithmetic(verdict: Verdict) -> str:
    return "over the real numbers" if verdict.scope.arithmetic == "real" else "the code as it ran"
