"""The conductor: which engine next, for how long, until there is a verdict."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias

from dpverdict import proving
from dpverdict.auditing.subject import Budget, Subject, Task, executor_of, pairs_of
from dpverdict.auditing.verdicts import Found, verdict_of
from dpverdict.claim import Approximate, Claim, Proportional, Pure
from dpverdict.claim.values import plain
from dpverdict.evidence import boxes
from dpverdict.evidence.allowance import Allowance
from dpverdict.evidence.counts import CoinCounts
from dpverdict.evidence.verdict import Undecided, Verdict
from dpverdict.evidence.verify import counts as kernel
from dpverdict.evidence.verify.counts import Candidate, Confirmation, Judgement, Ledger
from dpverdict.execute.seeds import generator
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import refuse_if_all_raised
from dpverdict.search.adaptive import (
    FINALISTS,
    MOST_TRAINING,
    TRAINING_SHARE,
    Bench,
    Learned,
    confirm,
    learn,
    promises_of,
    shown,
)
from dpverdict.search.cuts import Aim
from dpverdict.search.sampling import BoxRunner, Pair

EXACT_SECONDS = 60.0
"""How long an audit tries to decide exactly before it searches."""

Inputs: TypeAlias = tuple[Any, Any] | None
"""The one pair that was asked for, or None for the claim's own."""

_ROUNDS = ((4, 1), (16, 1), (80, 2))
"""Shares of the runs in per cent, and of α: an audit may stop after each round."""

_LEAST_ROUND = 2_000
_FIRST_RUNS = 80


def judged(subject: Subject, claim: Claim, budget: Budget, inputs: Inputs = None) -> Verdict:
    """An exact decision where one is in reach, else rounds of search and confirmation until the claim is refuted."""
    begun = time.perf_counter()
    decided = _decided(subject, claim, budget) if inputs is None else None
    if decided is not None:
        return decided
    rounds = tuple(part for part in _ROUNDS if budget.runs * part[0] >= _LEAST_ROUND * 100)
    return _searched(Task(subject, claim, budget, begun), inputs, rounds, is_bound=False)


def bounded(subject: Subject, claim: Claim, budget: Budget, inputs: Inputs = None) -> Verdict:
    """One round that spends all runs on the largest bound."""
    return _searched(Task(subject, claim, budget, time.perf_counter()), inputs, ((1, 1),), is_bound=True)


def _decided(subject: Subject, claim: Claim, budget: Budget) -> Verdict | None:
    """The exact answer, None where the mechanism, the claim or the time do not allow one."""
    mechanism, kinds = subject.mechanism, Proportional | Pure | Approximate
    if not isinstance(mechanism, Mechanism) or claim.domain.size() is None or not isinstance(claim.guarantee, kinds):
        return None
    arguments = dict(subject.arguments)
    if mechanism.epsilon_name is not None and claim.epsilon_range.only not in (None, subject.epsilon):
        arguments[mechanism.epsilon_name] = plain(subject.epsilon)
    question = proving.Question(subject.target, mechanism, mechanism.arguments(arguments), claim)
    verdict = proving.answer(question, proving.Work(EXACT_SECONDS, None, budget.out))
    return None if isinstance(verdict, Undecided) else verdict


def _searched(task: Task, inputs: Inputs, rounds: tuple[tuple[int, int], ...], *, is_bound: bool) -> Verdict:
    """Rounds of learning, checking and confirming."""
    budget, claim = task.budget, task.claim
    guarantee, delta = kernel.promised(claim, task.epsilon)
    promises = (Approximate(Fraction(0), delta),) if is_bound else promises_of(guarantee)
    ledger = Ledger(budget.alpha, tuple(weight for _, weight in rounds), (), task.epsilon, is_bound)
    alphas = [part.probability for part in Allowance(budget.alpha).split(*ledger.weights)]
    pairs = pairs_of(task, inputs)
    first = 0 if pairs[0].box is None else _FIRST_RUNS
    found = Found(ledger, Judgement((), None), first)
    with ExitStack() as stack:
        executor = stack.enter_context(executor_of(pairs[0], budget.workers))
        bench = Bench(task.name, budget.seed, executor, budget.oversight)
        _check_call(task, bench, pairs[0])
        whole = sum(share for share, _ in rounds)
        for number, (share, _) in enumerate(rounds):
            runs = (budget.runs - first) * share // whole
            training = min(int(runs * TRAINING_SHARE), MOST_TRAINING)
            aim = Aim(promises, claim.neighbourhood.symmetric, runs - training, alphas[number] / FINALISTS)
            learned = learn(bench, pairs, aim, training, f"round {number}")
            found = replace(found, runs=found.runs + learned.runs)
            if learned.finalists:
                found = _confirmed(task, found, bench, learned, (number, runs - learned.runs))
            if found.fault is not None or found.judgement.refuted is not None:
                break
    return verdict_of(task, found)


def _confirmed(task: Task, found: Found, bench: Bench, learned: Learned, part: tuple[int, int]) -> Found:
    """One round's confirmation: its number, and how many runs are left for the checks and for itself."""
    number, left = part
    checked = _examined(task, found, learned.pair, number)
    if checked.fault is not None:
        return checked
    runs = left - (checked.runs - found.runs)
    counts = confirm(bench, learned, runs, f"round {number}")
    judgement, ledger = _judgement(task, found.ledger, (number, learned, counts))
    return replace(checked, ledger=ledger, judgement=judgement, runs=checked.runs + runs)


def _judgement(
    task: Task, ledger: Ledger, done: tuple[int, Learned, tuple[CoinCounts, ...]]
) -> tuple[Judgement, Ledger]:
    """What all rounds show, from the evidence as it is written: what a verifier will read."""
    number, learned, counts = done
    candidates = tuple(
        Candidate(finalist.sides, finalist.promise, count)
        for finalist, count in zip(learned.finalists, counts, strict=True)
    )
    new = Confirmation(number, learned.pair.input, learned.pair.neighbour, candidates)
    longer = replace(ledger, confirmations=(*ledger.confirmations, new))
    return kernel.judge(task.claim, longer), longer


# --- the assumptions about runs --------------------------------------------------------------------------------------


def _examined(task: Task, found: Found, pair: Pair, number: int) -> Found:
    """What the checks of independence say of both inputs; a program draws from its own noise and needs none."""
    if pair.box is None:
        return found
    size = max(boxes.examination_size(task.budget.runs // 20), boxes.FEWEST)
    for runner in pair.runners:
        assert isinstance(runner, BoxRunner), "a pair with a black box runs it on both inputs"
        name = f"{task.name} on {runner.given!r}, round {number}"
        seen = boxes.examined(runner.box, runner.given, size, task.budget.seed, name)
        found = replace(found, runs=found.runs + seen.runs, replayable=found.replayable and seen.replayable)
        messages = [finding.message for finding in seen.findings]
        if messages:
            fault = f"runs are not independent: {messages[0]}"
            return replace(found, fault=fault, findings=tuple(messages))
        if seen.constant:
            found = replace(found, findings=tuple(dict.fromkeys((*found.findings, _CONSTANT))))
    return found


_CONSTANT = "every run gave the same outcome: there is no noise, or the mechanism seeds it anew in each call"


def _check_call(task: Task, bench: Bench, pair: Pair) -> None:
    """Refuse a call that raises on every run of both inputs: most likely it does not fit the function."""
    if pair.box is not None:
        first, second = shown(bench, pair, _FIRST_RUNS, "first call").fit
        seen = [(plain(pair.input), list(chain(*first))), (plain(pair.neighbour), list(chain(*second)))]
        refuse_if_all_raised(pair.box, seen, generator(task.budget.seed, task.name, 0, "an exception"))
