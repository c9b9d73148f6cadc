"""The exact reading of a program: every output with its probability as an exact function of ε."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpverdict.errors import InputError, UnreadableError
from dpverdict.mechanism.constants import FALSE, to_python
from dpverdict.mechanism.evaluate import arrange
from dpverdict.mechanism.outcome import Outcome, Raised, freeze, key
from dpverdict.mechanism.structure import Constant, Program, RaiseNode, Term
from dpverdict.mechanism.symbolic_input import fits_form, text_of
from dpverdict.reading.exact.blocks import varies
from dpverdict.reading.exact.components import Memo, plus
from dpverdict.reading.exact.epsilon_ranges import ALL, EpsilonRange, check_alike, ranges_of
from dpverdict.reading.exact.epsilon_ranges import holds as holds_at
from dpverdict.reading.exact.exponential import ONE, Exponential, Quotient
from dpverdict.reading.exact.numbers import Unit, at_input, has_epsilon
from dpverdict.reading.exact.paths import Judge, regions_of
from dpverdict.reading.exact.regions import Pattern, Region
from dpverdict.reading.exact.weights import Solver, prepared, scales_of, unit_of


@dataclass(frozen=True, slots=True)
class OutputProbability:
    """An output, and its probability as a function of the unit."""

    output: Outcome
    probability: Quotient


@dataclass(frozen=True, slots=True)
class Distribution:
    """All outputs on one input, for the ε of a range; probabilities are functions of the unit, which is ε mostly."""

    outputs: tuple[OutputProbability, ...]
    unit: Unit
    within: EpsilonRange

    def text(self, probability: Quotient) -> str:
        """A probability as an expression in eps."""
        return self.unit.text(probability)

    def digits(self, probability: Quotient, epsilon: Fraction, count: int = 30) -> str:
        """A probability at an ε of the range, correctly rounded to that many significant digits."""
        return probability.digits(self.unit.at(epsilon), count)


@dataclass(frozen=True, slots=True)
class ExactProgram:
    """A program with the regions of its outputs, found once for all inputs.

    `regions` is public data of this reading: what each output depends on, as comparisons that are affine in noise and
    inputs.  A memo that is passed from call to call keeps solved sub-problems by their values.
    """

    program: Program
    regions: Mapping[Pattern, tuple[Region, ...]]
    _solver: Solver = field(repr=False, compare=False)
    _known: Mapping[Pattern, tuple[Outcome, Hashable]] = field(repr=False, compare=False)

    @classmethod
    def of(cls, program: Program, judge: Judge | None = None) -> ExactProgram:
        """The reading of a program, or of what a judge says to its outputs: true or false.

        Raises `UnreadableError` where the program has no exact reading.
        """
        regions = regions_of(program, judge)
        known = {}
        for pattern in regions:
            if all(isinstance(slot, Constant) for slot in pattern.slots):
                output = output_of(pattern, None, {})
                known[pattern] = output, key(output)
        return cls(program, regions, prepared(regions, program.arguments), known)

    def outputs(self) -> tuple[Outcome, ...]:
        """The outputs that do not depend on the input's values."""
        return tuple(output for output, _ in self._known.values())

    def output_key(self, pattern: Pattern, input: Any) -> Hashable:
        """The key of the output that a pattern is on an input."""
        return self._named(pattern, input)[1]

    def returned(self, input: Any) -> Iterator[Any]:
        """Every output as the mechanism returns it, lists being lists; `Raised` for an exception."""
        for pattern in self.regions:
            yield _returned(pattern, input, self.program.arguments)

    def unit(self, input: Any, memo: Memo | None = None) -> Unit:
        """What the probabilities on an input are functions of."""
        scales = self._scales(input)
        if memo is None or any(varies(scale) for scale in scales):
            return self._unit(scales, input)
        if scales not in memo:
            memo[scales] = self._unit(scales, input)
        found: Unit = memo[scales]
        return found

    def _unit(self, scales: frozenset[Term], input: Any) -> Unit:
        return unit_of(scales, input, self.program.arguments, self.program.name)

    def _scales(self, input: Any) -> frozenset[Term]:
        """The scales of the regions that the input allows: of others, they may not even be defined."""
        if not self._solver.guards:
            return self._solver.scales
        known = {guard: at_input(guard, input, self.program.arguments) for guard in self._solver.guards}
        return scales_of(
            block
            for pattern, regions in self.regions.items()
            for place, region in enumerate(regions)
            if not any(known[guard] == FALSE for guard in region.guards)
            for block in self._solver.blocks[pattern, place]
        )

    def ranges(self, input: Any) -> tuple[EpsilonRange, ...]:
        """The ranges of ε on which the program behaves alike: (0, ∞), unless it has conditions on ε."""
        self._check(input)
        guards = self._solver.guards
        known = [at_input(guard, input, self.program.arguments) for guard in guards]
        return ranges_of(guard for guard in known if has_epsilon(guard))

    def probability(
        self, output: Outcome, input: Any, within: EpsilonRange | None = None, memo: Memo | None = None
    ) -> Quotient:
        """The probability of one output (0 if the program does not have it)."""
        wanted, solving = key(output), self._solving(input, within, memo)
        total = Quotient(Exponential.zero())
        for pattern in self.regions:
            if self._named(pattern, input)[1] == wanted:
                total = plus(total, solving.of(pattern))
        return _tidy(total)

    def distribution(self, input: Any, within: EpsilonRange | None = None, memo: Memo | None = None) -> Distribution:
        """Every output that the guards allow, with its probability; they sum to 1, which is checked."""
        solving = self._solving(input, within, memo)
        found: dict[Hashable, OutputProbability] = {}
        for pattern, probability in solving.all():
            output, name = self._named(pattern, input)
            earlier = found.get(name)
            total = probability if earlier is None else plus(earlier.probability, probability)
            found[name] = OutputProbability(output, total)
        outputs = tuple(OutputProbability(one.output, _tidy(one.probability)) for one in found.values())
        assert_sums_to_one(outputs, self.program.name)
        return Distribution(outputs, solving.unit, solving.within)

    def _solving(self, input: Any, within: EpsilonRange | None, memo: Memo | None) -> _Solving:
        ranges, within = self.ranges(input), ALL if within is None else within
        check_alike(self.program.name, ranges, within)
        memo = {} if memo is None else memo
        return _Solving(self, input, self.unit(input, memo), within, memo)

    def _named(self, pattern: Pattern, input: Any) -> tuple[Outcome, Hashable]:
        """The output of a pattern on an input, and what tells it from others."""
        if pattern in self._known:
            return self._known[pattern]
        output = output_of(pattern, input, self.program.arguments)
        return output, key(output)

    def _check(self, input: Any) -> None:
        program = self.program
        if program.form is not None and not fits_form(input, program.form):
            raise _other_form(program, input)
        if program.form is None and text_of(input) != text_of(program.concrete):
            raise _other_form(program, input)


@dataclass(frozen=True, slots=True)
class _Solving:
    """A program on one input."""

    exact: ExactProgram
    input: Any
    unit: Unit
    within: EpsilonRange
    memo: Memo

    def all(self) -> Iterator[tuple[Pattern, Quotient]]:
        """The patterns that the guards allow."""
        for pattern, regions in self.exact.regions.items():
            if any(self._allowed(region) for region in regions):
                yield pattern, self.of(pattern)

    def of(self, pattern: Pattern) -> Quotient:
        """The probability of a pattern."""
        total: Quotient | None = None
        for place, region in enumerate(self.exact.regions[pattern]):
            if self._allowed(region):
                part = self.exact._solver.probability((pattern, place), self.input, self.unit, self.memo)
                total = part if total is None else plus(total, part)
        return Quotient(Exponential.zero()) if total is None else total

    def _allowed(self, region: Region) -> bool:
        return all(self._holds(guard) for guard in region.guards)

    def _holds(self, guard: Term) -> bool:
        value = at_input(guard, self.input, self.exact.program.arguments)
        return bool(value.content) if isinstance(value, Constant) else holds_at(value, self.within.sample)


def assert_sums_to_one(outputs: tuple[OutputProbability, ...], name: str) -> None:
    """An error inside this reading would show here: it is never passed over."""
    plain = Exponential.zero()
    sums: dict[Exponential, Exponential] = {}
    for one in outputs:
        above, below = one.probability.numerator, one.probability.denominator
        if below is ONE:
            plain = plain + above
        else:
            sums[below] = sums[below] + above if below in sums else above
    total = Quotient(plain)
    for below, above in sums.items():
        total = plus(total, _tidy(Quotient(above, below)))
    if total != Quotient(ONE):
        raise AssertionError(f"the probabilities of the outputs of {name} sum to {total.text()}, not to 1")


def _tidy(value: Quotient) -> Quotient:
    return value if value.denominator is ONE else value.cancelled()


def output_of(pattern: Pattern, input: Any, arguments: Mapping[str, object]) -> Outcome:
    """The output that a pattern is on an input."""
    return freeze(_returned(pattern, input, arguments))


def _returned(pattern: Pattern, input: Any, arguments: Mapping[str, object]) -> Any:
    if isinstance(pattern.ending, RaiseNode):
        return Raised(pattern.ending.exception)
    slots = [slot if isinstance(slot, Constant) else at_input(slot, input, arguments) for slot in pattern.slots]
    known = [slot for slot in slots if isinstance(slot, Constant)]
    if len(known) < len(slots):
        raise UnreadableError(
            "EXACT-017",
            "an output that depends on ε",
            why="outputs are told apart by their values, for all ε at once",
            fix="a fixed ε (--arg), or an output without ε",
        )
    return arrange(pattern.ending.shape, [to_python(slot) for slot in known])


def _other_form(program: Program, input: Any) -> InputError:
    return InputError(
        "INPUT-030",
        f"{program.name} was looked into for inputs of another form than {input!r}",
        why=f"the program is about {program.form or program.concrete!r}",
        fix="look into the mechanism again: mechanism.program_for(input)",
    )


__all__ = ["ALL", "Distribution", "ExactProgram", "OutputProbability"]
