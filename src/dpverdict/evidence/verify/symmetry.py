"""When two inputs give an output the same probability, and in which direction an input moves it.

Both are read off the regions of noise that give the output, with the inputs as symbols:

- *Exchange.*  If swapping two inputs in every region of an output, in the laws of the draws as well, gives the regions
  of an output again (the same one or another), then Pr[o' | swapped u] = Pr[o | u] for every u: the swap renames draws,
  and draws are independent and known by their law alone.
- *Direction.*  For fixed centred noise an input that occurs with one sign in all comparisons of all regions of an
  output, and nowhere else, moves every region in one direction, so that the output's probability is monotone in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from dpverdict.mechanism.algebra import add, parts_of, scale
from dpverdict.mechanism.laws import DiscreteLaplace, Exponential, Laplace
from dpverdict.mechanism.properties import inputs_in
from dpverdict.mechanism.rebuild import rebuild
from dpverdict.mechanism.structure import Comparison, Draw, Input, Kind, Term
from dpverdict.reading.exact.regions import LinearComparison, Noise, Region

Key: TypeAlias = frozenset[Any]
"""The regions of an output as a value: equal keys are equal unions of regions."""


def key_of(regions: Iterable[Region], renaming: Mapping[Input, Input] | None = None) -> Key:
    """The regions as a value, with inputs renamed."""
    rename = _renamer(renaming or {})
    return frozenset(
        (
            frozenset(rename(guard) for guard in region.guards),
            frozenset(_comparison(comparison, rename) for comparison in region.comparisons),
            frozenset((_noise(choice.noise, rename), choice.position) for choice in region.choices),
        )
        for region in regions
    )


def swap(one: Input, other: Input) -> dict[Input, Input]:
    """The renaming that exchanges two inputs."""
    return {one: other, other: one}


def inputs_of(regions: Iterable[Region]) -> frozenset[Input]:
    """Every input that the regions depend on, through laws and guards as well."""
    found: set[Input] = set()
    for region in regions:
        for guard in region.guards:
            found |= inputs_in(guard)
        for comparison in region.comparisons:
            found |= inputs_in(comparison.offset)
            for noise, _ in comparison.terms:
                found |= _inputs_of_law(noise)
        for choice in region.choices:
            found |= _inputs_of_law(choice.noise)
    return frozenset(found)


def directions(regions: Sequence[Region]) -> dict[Input, bool] | None:
    """For each input whether the output's probability rises with it; None where that does not follow."""
    found: dict[Input, bool] = {}
    for region in regions:
        for choice in region.choices:
            if _inputs_of_law(choice.noise):
                return None
        for comparison in region.comparisons:
            if any(_inputs_in_shape(noise) for noise, _ in comparison.terms):
                return None
        offsets = [_with_locations(comparison) for comparison in region.comparisons]
        for guard in region.guards:
            if not isinstance(guard, Comparison) or guard.relation == "==":
                return None
            offsets.append(guard.difference)
        for offset in offsets:
            if not _agrees(offset, found):
                return None
    # What cancels out (`laplace(q) - q`) moves nothing, so that either direction is right.
    return dict.fromkeys(inputs_of(regions), True) | found


def _agrees(offset: Term, found: dict[Input, bool]) -> bool:
    """Whether the inputs of an offset that has to be at most 0 move it as they did before; what is new is noted."""
    _, terms = parts_of(offset)
    for term, coefficient in terms.items():
        if isinstance(term, Input):
            if found.setdefault(term, coefficient < 0) != (coefficient < 0):
                return False
        elif inputs_in(term):
            return False
    return True


def _inputs_of_law(noise: Noise) -> frozenset[Input]:
    return frozenset().union(*(inputs_in(parameter) for parameter in noise.law.parameters))


def _with_locations(comparison: LinearComparison) -> Term:
    """The offset of the comparison over centred noise: regions leave the locations of whole noise in its law."""
    offset = comparison.offset
    for noise, coefficient in comparison.terms:
        if isinstance(noise.law, DiscreteLaplace):
            offset = add(offset, scale(noise.law.location, coefficient))
    return offset


def _inputs_in_shape(noise: Noise) -> bool:
    """Whether anything but the location of the noise depends on inputs."""
    placed = isinstance(noise.law, Laplace | Exponential | DiscreteLaplace)
    shape = noise.law.parameters[1:] if placed else noise.law.parameters
    return any(inputs_in(parameter) for parameter in shape)


def _renamer(renaming: Mapping[Input, Input]) -> Callable[[Term], Term]:
    known: dict[Term, Term] = {}

    def rename(term: Term) -> Term:
        if term not in known:
            match term:
                case Input():
                    known[term] = renaming.get(term, term)
                case Draw(law, occurrence):
                    known[term] = Draw(law.with_parameters(tuple(map(rename, law.parameters))), occurrence)
                case _:
                    known[term] = rebuild(term, rename)
        return known[term]

    return rename


def _noise(noise: Noise, rename: Callable[[Term], Term]) -> tuple[Any, ...]:
    return rename(noise.draw), noise.law.with_parameters(tuple(map(rename, noise.law.parameters)))


def _comparison(comparison: LinearComparison, rename: Callable[[Term], Term]) -> tuple[Any, ...]:
    """The comparison up to a positive factor; with real noise in it, a tie has probability 0."""
    terms = sorted(((_noise(noise, rename), c) for noise, c in comparison.terms), key=lambda pair: pair[0][0].text)
    factor = 1 / abs(terms[0][1]) if terms else Fraction(1)
    strict = comparison.strict and all(noise.draw.law.kind is not Kind.REAL for noise, _ in comparison.terms)
    return (
        tuple((noise, coefficient * factor) for noise, coefficient in terms),
        scale(rename(comparison.offset), factor),
        strict,
    )
