"""The comparisons that a proof consists of, with both probabilities as exact functions of ε.

Where the mechanism is one program for all inputs of a finite domain of vectors, `coverage` says which comparisons stand
for all others.  Everything else (inputs of several lengths, programs that belong to one input, outputs that depend on
the input's values, conditions on ε, a user's own neighbourhood) is compared pair by pair, output by output.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from dpverdict.claim.claim import Claim
from dpverdict.claim.compound_domain import Vector
from dpverdict.claim.domain import Domain
from dpverdict.claim.pair_classes import Inputs
from dpverdict.claim.values import identity, plain, shown
from dpverdict.errors import UnreadableError
from dpverdict.evidence.verify.coverage import Group, groups
from dpverdict.evidence.verify.symmetry import inputs_of
from dpverdict.mechanism.outcome import Outcome, key
from dpverdict.mechanism.structure import Constant, Input
from dpverdict.reading.exact.components import Memo
from dpverdict.reading.exact.epsilon_ranges import EpsilonRange
from dpverdict.reading.exact.exact_chain import ExactChain
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.reading.exact.exponential import Exponential, Quotient
from dpverdict.reading.exact.numbers import Unit, has_epsilon
from dpverdict.reading.exact.read import ExactReading
from dpverdict.reading.exact.regions import Region

NEVER = Quotient(Exponential.zero())

MOST_MEMBERS = 1 << 10
"""Larger domains are not listed at once."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output on two neighbours, for the ε of a range in which the program behaves alike."""

    output: Outcome
    input: Any
    neighbour: Any
    probability: Quotient
    neighbour_probability: Quotient
    within: EpsilonRange
    unit: Unit


@dataclass(slots=True)
class Space:
    """A mechanism's exact programs on the inputs of a claim, each looked for once."""

    claim: Claim
    program_for: Callable[[Any], ExactReading]
    prune: bool = True
    check_input: Callable[[Any], None] = lambda value: None
    """Raises where the mechanism has no such input; a program for all inputs is asked about each value."""
    memo: Memo = field(default_factory=dict)
    _programs: dict[Hashable, ExactReading] = field(default_factory=dict)

    def on(self, value: Any) -> tuple[ExactReading, Any]:
        """The program (or chain) for an input, and the input as the program takes it."""
        given, at = _handed(value), identity(value)
        if at not in self._programs:
            self._programs[at] = self.program_for(given)
        return self._programs[at], given

    def symbolic(self) -> tuple[ExactProgram, Inputs, bool] | None:
        """The program for all inputs, what they are, and whether they are lists; None where there is none."""
        shape = _vectors(self.claim)
        if shape is None:
            return None
        inputs, is_list = shape
        for member in inputs.members:
            _handed(member)
        example = max(inputs.members, key=lambda member: isinstance(member, Fraction))
        exact, _ = self.on([example] * inputs.length if is_list else example)
        if isinstance(exact, ExactChain) or exact.program.concrete is not None or not _is_uniform(exact):
            return None
        for member in inputs.members:
            self.check_input(_given((member,) * inputs.length, is_list))
        return exact, inputs, is_list

    def endless(self) -> list[Any]:
        """The inputs looked at so far on which runs may never return."""
        chains = [exact for exact in self._programs.values() if isinstance(exact, ExactChain)]
        return [exact.input for exact in chains if exact.may_not_return(self.memo)]


def comparisons(space: Space) -> Iterator[Comparison]:
    """Every output on every pair of different neighbours, up to what is shown to be the same."""
    symbolic = space.symbolic()
    if symbolic is None:
        for a, b in space.claim.pairs():
            yield from _compared(space, a, b)
        return
    exact, inputs, is_list = symbolic
    for group in grouped(space, exact, inputs, is_list):
        yield from _of_group(space, exact, group, inputs, is_list)


def grouped(space: Space, exact: ExactProgram, inputs: Inputs, is_list: bool) -> list[Group[Outcome]]:
    """The groups of the program's outputs."""
    return groups(regions_by_output(exact), coordinates_of(exact, inputs, is_list), inputs, prune=space.prune)


def regions_by_output(exact: ExactProgram) -> dict[Outcome, Sequence[Region]]:
    """What each output depends on; patterns that look alike from outside are one output."""
    found: dict[Hashable, tuple[Outcome, list[Region]]] = {}
    for output, regions in zip(exact.outputs(), exact.regions.values(), strict=True):
        found.setdefault(key(output), (output, []))[1].extend(regions)
    return {output: tuple(regions) for output, regions in found.values()}


def regions_of(exact: ExactProgram, output: Outcome, given: Any) -> list[Region]:
    """What one output depends on, on an input."""
    wanted = key(output)
    found = (regions for pattern, regions in exact.regions.items() if exact.output_key(pattern, given) == wanted)
    return [region for regions in found for region in regions]


def coordinates_of(exact: ExactProgram, inputs: Inputs, is_list: bool) -> list[Input]:
    """The program's input symbols, in the order of the places."""
    found = {one for regions in exact.regions.values() for one in inputs_of(regions)}
    kind = next((one.kind for one in found), None)
    if kind is None:
        return []
    return [Input((place,) if is_list else (), kind) for place in range(inputs.length)]


def _of_group(
    space: Space, exact: ExactProgram, group: Group[Outcome], inputs: Inputs, is_list: bool
) -> Iterator[Comparison]:
    output = group.outputs[0]
    known: dict[tuple[Any, ...], Quotient] = {}
    (within,) = exact.ranges(_given((inputs.members[0],) * inputs.length, is_list))
    unit = exact.unit(_given((inputs.members[0],) * inputs.length, is_list))

    def probability(vector: tuple[Any, ...]) -> Quotient:
        # The order within a block changes nothing: `coverage` has shown it for this output.
        seen = tuple(tuple(sorted(vector[at] for at in block)) for block in group.blocks)
        if seen not in known:
            given = _given(vector, is_list)
            if exact.unit(given, space.memo) != unit:
                raise _other_noise()
            known[seen] = exact.probability(output, given, within, space.memo)
        return known[seen]

    for a, b in group.pairs(inputs):
        here, there = (list(vector) if is_list else vector[0] for vector in (a, b))
        yield Comparison(output, here, there, probability(a), probability(b), within, unit)


def _compared(space: Space, a: Any, b: Any) -> Iterator[Comparison]:
    (one, mine), (other, theirs) = space.on(a), space.on(b)
    unit = one.unit(mine)
    for within in common_ranges((unit, one.ranges(mine)), (other.unit(theirs), other.ranges(theirs))):
        laws = [one.distribution(mine, within, space.memo), other.distribution(theirs, within, space.memo)]
        here, there = ({key(found.output): found for found in law.outputs} for law in laws)
        for at in here:
            against = there[at].probability if at in there else NEVER
            yield Comparison(here[at].output, a, b, here[at].probability, against, within, unit)


Behaviour: TypeAlias = tuple[Unit, Sequence[EpsilonRange]]
"""What a program's probabilities on an input are functions of, and the ranges of ε on which it behaves alike."""


def common_ranges(here: Behaviour, there: Behaviour) -> list[EpsilonRange]:
    """The ranges of ε on which both behave alike.  Raises `UnreadableError` where their units differ."""
    (unit, ranges), (other_unit, others) = here, there
    if unit != other_unit:
        raise _other_noise()
    return _common(ranges, others)


def _other_noise() -> UnreadableError:
    return UnreadableError(
        "EXACT-030",
        "inputs on which the noise is of different kinds",
        why="their probabilities are functions of different powers of ε",
        fix="inputs on which all scales are multiples of 1/ε, or all of ε, or all fixed",
    )


def _common(ranges: Sequence[EpsilonRange], others: Sequence[EpsilonRange]) -> list[EpsilonRange]:
    """The parts of (0, ∞) on which both behave alike."""
    found = []
    for one in ranges:
        for other in others:
            low, low_closed = max((one.low, not one.low_closed), (other.low, not other.low_closed))
            highs = [(part.high, part.high_closed) for part in (one, other) if part.high is not None]
            high, high_closed = min(highs) if highs else (None, False)
            if high is None or low < high or (low == high and not low_closed and high_closed):
                found.append(EpsilonRange(low, high, not low_closed, high_closed))
    return found


def _vectors(claim: Claim) -> tuple[Inputs, bool] | None:
    """The claim's inputs as vectors of one length over finitely many numbers (a single number is one of length 1)."""
    domain, budget = claim.domain, claim.neighbourhood.budget
    is_list = isinstance(domain, Vector)
    item: Domain = domain.item if isinstance(domain, Vector) else domain
    length = domain.longest if isinstance(domain, Vector) and domain.longest == domain.shortest else None
    size = item.size() if item.numeric else None
    if budget is None or size is None or size > MOST_MEMBERS or (is_list and not length):
        return None
    return Inputs(tuple(item.members()), length or 1, budget), is_list


def _is_uniform(exact: ExactProgram) -> bool:
    """Whether outputs and conditions on ε are the same for all inputs."""
    slots_known = all(isinstance(slot, Constant) for pattern in exact.regions for slot in pattern.slots)
    return slots_known and not _has_epsilon_guards(exact)


def _has_epsilon_guards(exact: ExactProgram) -> bool:
    return any(has_epsilon(guard) for regions in exact.regions.values() for one in regions for guard in one.guards)


def _handed(value: Any) -> Any:
    """A value as the mechanism gets it, which has to be the value that the claim is about."""
    given = plain(value)
    if identity(given) != identity(value):
        raise UnreadableError(
            "EXACT-040",
            f"the input {shown(value)}, which no float is",
            why=f"the mechanism would get {shown(given)}, which is another input than the claim's",
            fix="a domain of decimals with at most 15 digits, such as 0,0.5,1; or whole numbers and a scaled mechanism",
        )
    return given


def _given(vector: tuple[Any, ...], is_list: bool) -> Any:
    values = [plain(value) for value in vector]
    return values if is_list else values[0]
