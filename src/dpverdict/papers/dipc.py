"""DiPC's tables 8.1 to 8.6 [ravi2019automated], decided again row by row.

The cases are in `dipc_tables`; here they are answered.  Every verdict has passed through the kernel.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpverdict.catalog import Counterexample as Printed
from dpverdict.catalog import find
from dpverdict.claim import Claim, from_arguments
from dpverdict.claim.relations import PairList
from dpverdict.claim.values import plain
from dpverdict.evidence.event_text import from_json
from dpverdict.evidence.events import OutputEquals, Union
from dpverdict.evidence.verdict import Measured, Proved, Refuted, Verdict
from dpverdict.evidence.verify import violation
from dpverdict.evidence.verify.comparisons import comparisons
from dpverdict.evidence.verify.proof import different
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.violation import Counterexample
from dpverdict.mechanism import Mechanism, outcome
from dpverdict.mechanism.outcome import Outcome, freeze, key
from dpverdict.papers.dipc_tables import Case, cases
from dpverdict.papers.row import Row
from dpverdict.proving import ENGINE, Question, Work, answer, refutation
from dpverdict.reading.exact.sign import Negative, Nonnegative, decide
from dpverdict.search.smallest import change, smallest

_QUIET = Work(seconds=None, out=None)

Listener = Callable[[Case, int, int], None]
"""Hears of a case before it is answered, of its number, and of how many there are."""


def rows(*, quick: bool = False, tables: Sequence[str] | None = None, listen: Listener | None = None) -> Iterator[Row]:
    """The rows of the tables (all, unless some are named); `quick` leaves out those that are marked slow."""
    wanted = [case for case in cases() if not (quick and case.is_slow) and (tables is None or case.table in tables)]
    for number, case in enumerate(wanted):
        if listen is not None:
            listen(case, number, len(wanted))
        yield row(case)


def row(case: Case) -> Row:
    """A case, answered."""
    begun = time.perf_counter()
    found = _smallest(case) if case.grows else _Found(answer(question(case), _QUIET))
    seconds = time.perf_counter() - begun
    verdict, printed, notes = found.verdict, None, [*case.notes, *found.notes]
    ours = counterexample(verdict) if isinstance(verdict, Refuted) else None
    if case.printed is not None:
        printed, note = checked(case, case.printed)
        notes += [note, *_compared(ours, case.printed)]
    if not isinstance(verdict, Proved | Refuted):
        notes.append(str(verdict.reason))
    return Row(
        table=case.table,
        mechanism=case.mechanism,
        parameters=found.parameters or case.parameters,
        engine=ENGINE,
        verdict=verdict.verdict,
        expected=case.expected,
        published=case.published,
        seconds=seconds,
        published_seconds=case.published_seconds,
        lower_bound=verdict.lower_bound,
        counterexample=ours,
        notes=tuple(notes),
        further={} if case.printed is None else {"printed": {**_shown(case.printed), "is_violation": printed}},
    )


def question(case: Case, length: int | None = None, *, prune: bool = True) -> Question:
    """What a case asks, of so many queries."""
    mechanism = find(case.entry).mechanism
    assert isinstance(mechanism, Mechanism), f"{case.entry} cannot be looked into"
    arguments = mechanism.arguments(dict(case.arguments))
    return Question(f"catalog:{case.entry}", mechanism, arguments, _claim(case, length), prune)


def _claim(case: Case, length: int | None) -> Claim:
    entry = find(case.entry)
    inputs: dict[str, Any] = {"domain": entry.domain, "adjacency": entry.adjacency, "epsilon_range": entry.epsilon}
    inputs |= {"length": entry.length, **case.claim}
    if "epsilon" in inputs:
        del inputs["epsilon_range"]
    if length is not None:
        inputs["length"] = length
    return from_arguments(**{name: value for name, value in inputs.items() if value is not None})


# --- counterexamples --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Found:
    verdict: Verdict
    notes: tuple[str, ...] = ()
    parameters: str = ""


def _smallest(case: Case) -> _Found:
    """One query more each time until the claim fails; before that, it has been proved."""
    length, most = 1, find(case.entry).length
    while isinstance(verdict := answer(question(case, length), _QUIET), Proved) and length != most:
        length += 1
    if not isinstance(verdict, Refuted) or verdict.witness.epsilon is None:
        return _Found(verdict)
    asked = question(case, length, prune=False)
    least = smallest(asked.space(), verdict.witness.epsilon)
    parameters = f"{length} {'query' if length == 1 else 'queries'}"
    if least is None or not least.is_certain:
        return _Found(verdict, ("whether a smaller pair fails is open",), parameters)
    one = least.violation.comparison
    example = Counterexample((one.output,), one.input, one.neighbour, least.violation.epsilon)
    proofs = (f"proved for fewer than {length} queries",) if length > 1 else ()
    try:
        return _Found(refutation(asked, example, Measured()), proofs, parameters)
    except DoesNotHold as doubt:
        return _Found(verdict, (f"the check does not confirm the smallest counterexample: {doubt}",), parameters)


def counterexample(verdict: Refuted) -> dict[str, object]:
    """The witness of a refutation, its outputs as JSON."""
    witness, event = verdict.witness.to_json(), from_json(dict(verdict.witness.event))
    events = event.events if isinstance(event, Union) else (event,)
    outputs = [one.outcome for one in events if isinstance(one, OutputEquals)]
    return {
        "input": witness["input"],
        "neighbour": witness["neighbour"],
        "outputs": [outcome.to_json(output) for output in outputs],
        "epsilon": witness["epsilon"],
    }


# --- what the thesis prints -------------------------------------------------------------------------------------------


def _shown(printed: Printed) -> dict[str, object]:
    return {
        "input": plain(printed.input),
        "neighbour": plain(printed.neighbour),
        "output": plain(printed.output),
        "epsilon": printed.epsilon,
    }


def _compared(ours: Mapping[str, Any] | None, printed: Printed) -> list[str]:
    """How the counterexample that was found differs from the printed one, where it does."""
    theirs = _shown(printed)
    if ours is None or (ours["input"], ours["neighbour"], ours["outputs"]) == (
        theirs["input"],
        theirs["neighbour"],
        [theirs["output"]],
    ):
        return []
    sizes = change(ours["input"], ours["neighbour"]), change(theirs["input"], theirs["neighbour"])
    moved = "inputs that lie as far apart"
    if sizes[0] != sizes[1]:
        moved = f"inputs that lie {sizes[0]} apart instead of {sizes[1]}"
    pair = json.dumps([theirs["input"], theirs["neighbour"]])
    return [f"another one than the printed {pair} with output {outcome.text(freeze(theirs['output']))}: {moved}"]


def checked(case: Case, printed: Printed) -> tuple[bool, str]:
    """Whether the printed pair and output contradict the claim at the printed ε, in one order or the other."""
    asked, output = question(case, len(plain(printed.input))), freeze(plain(printed.output))
    for a, b in ((printed.input, printed.neighbour), (printed.neighbour, printed.input)):
        example = Counterexample((output,), plain(a), plain(b), Fraction(printed.epsilon))
        try:
            violation.check(asked.space(), example)
        except DoesNotHold:
            continue
        return True, f"the printed counterexample is one, at ε = {printed.epsilon}"
    said = f"the printed counterexample is none at its ε = {printed.epsilon}"
    if case.claim.get("delta", "0") != "0":
        return False, said
    fails = _fails(asked, printed, output)
    where = {True: "; its pair and output fail at others", False: "; its pair and output fail at no ε", None: ""}
    return False, said + where[fails]


def _fails(asked: Question, printed: Printed, output: Outcome) -> bool | None:
    """Whether the pair and the output contradict the pure claim at any ε, None where that is open."""
    a, b = plain(printed.input), plain(printed.neighbour)
    only = replace(asked.claim, neighbourhood=PairList(((a, b), (b, a))))
    space = replace(asked, claim=only).space()
    about = (one for one in comparisons(space) if key(one.output) == key(output))
    answers = [decide(function, bound.interval) for _, bound, function in different(space.claim, about)]
    if any(isinstance(one, Negative) for one in answers):
        return True
    return False if all(isinstance(one, Nonnegative) for one in answers) else None
