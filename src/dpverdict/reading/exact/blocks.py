"""Regions cut into independent blocks, and when two blocks are the same problem.

A block holds the draws that comparisons connect.  Whether a block has been solved before is asked very often, so that
the answer is prepared: what does not depend on the input is the block's shape, and what does are its offsets.  Where
all comparisons are about one draw and at most one other, draws that play the same part may be exchanged, and their
offsets are kept in order of size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpverdict.mechanism import structure
from dpverdict.mechanism.constants import ZERO, exact, from_python
from dpverdict.mechanism.evaluate import at_path
from dpverdict.mechanism.laws import Exponential, Laplace, Uniform
from dpverdict.mechanism.properties import children
from dpverdict.mechanism.structure import Affine, Constant, Input, Law, Parameter, Term
from dpverdict.reading.exact.numbers import rational_at
from dpverdict.reading.exact.regions import LinearComparison, Noise, Region

Number: TypeAlias = int | Fraction
Offset: TypeAlias = Callable[[Any], Number]


@structure.value
class Shape(structure.Value):
    """What a block is apart from its offsets; hashed once."""

    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Draws that a region's comparisons connect, with the comparisons and what the offsets are on an input."""

    noise: tuple[Noise, ...]
    comparisons: tuple[LinearComparison, ...]
    terms: tuple[tuple[tuple[int, Fraction], ...], ...]
    offsets: tuple[Offset, ...]
    shape: Shape | None
    """None where the laws depend on the input."""
    groups: tuple[tuple[tuple[int, ...], ...], ...]
    """Comparisons by number: those of one draw together, and draws that may be exchanged in one group."""

    def key(self, offsets: Sequence[Number]) -> tuple[Any, ...]:
        """Equal for blocks with the same probability (and a shape)."""
        listed = [tuple(sorted([tuple([offsets[at] for at in draw]) for draw in group])) for group in self.groups]
        return self.shape, *listed


def blocks_of(region: Region, arguments: Mapping[str, object]) -> tuple[Block, ...]:
    """The blocks of a region, which share no noise."""
    groups: list[tuple[set[Noise], list[LinearComparison]]] = []
    for comparison in region.comparisons:
        noise, listed = {one for one, _ in comparison.terms}, [comparison]
        apart = []
        for group in groups:
            if group[0] & noise:
                noise |= group[0]
                listed = group[1] + listed
            else:
                apart.append(group)
        groups = [*apart, (noise, listed)]
    return tuple(_block(listed, arguments) for _, listed in groups)


def _block(comparisons: Sequence[LinearComparison], arguments: Mapping[str, object]) -> Block:
    noise = tuple(dict.fromkeys(one for comparison in comparisons for one, _ in comparison.terms))
    place = {one: at for at, one in enumerate(noise)}
    terms = tuple(tuple((place[one], c) for one, c in comparison.terms) for comparison in comparisons)
    offsets = tuple(_offset(comparison.offset, arguments) for comparison in comparisons)
    strict = tuple(comparison.strict and not _has_real(comparison) for comparison in comparisons)
    laws = tuple(centred(one.law) for one in noise)
    shape, groups = _arranged(laws, terms, strict)
    fixed = not any(varies(parameter) for law in laws for parameter in law.parameters)
    return Block(noise, tuple(comparisons), terms, offsets, shape if fixed else None, groups)


def _has_real(comparison: LinearComparison) -> bool:
    return any(isinstance(one.law, Laplace | Exponential | Uniform) for one, _ in comparison.terms)


def centred(law: Law) -> Law:
    """The law without the location that offsets take up."""
    if isinstance(law, Laplace | Exponential):
        return law.with_parameters((ZERO, *law.parameters[1:]))
    return law


def varies(term: Term) -> bool:
    """Whether the term depends on the input or on parameters."""
    return isinstance(term, Input | Parameter) or any(varies(inner) for inner in children(term))


_Groups: TypeAlias = tuple[tuple[tuple[int, ...], ...], ...]


def _arranged(
    laws: tuple[Law, ...], terms: tuple[tuple[tuple[int, Fraction], ...], ...], strict: tuple[bool, ...]
) -> tuple[Shape, _Groups]:
    """The shape, and which comparisons may be exchanged, as `Block.groups` says."""
    centre = _centre(terms)
    if centre is None:
        return Shape((laws, terms, strict)), tuple(((at,),) for at in range(len(terms)))
    own: dict[int, list[tuple[Any, int]]] = {at: [] for at in range(len(laws))}
    for number, listed in enumerate(terms):
        leaf = next((at for at, _ in listed if at != centre), centre)
        factors = dict(listed)
        part = factors.get(leaf, Fraction(0)), factors.get(centre, Fraction(0)), strict[number]
        own[leaf].append((part, number))
    parts: dict[Any, list[tuple[int, ...]]] = {}
    for at, listed_parts in own.items():
        ordered = sorted(listed_parts)
        signature = at == centre, laws[at], tuple(part for part, _ in ordered)
        parts.setdefault(signature, []).append(tuple(number for _, number in ordered))
    ordered_parts = sorted(parts.items(), key=lambda item: (item[0][0], item[0][1].text, item[0][2]))
    shape = Shape(tuple((signature, len(draws)) for signature, draws in ordered_parts))
    return shape, tuple(tuple(draws) for _, draws in ordered_parts)


def _centre(terms: tuple[tuple[tuple[int, Fraction], ...], ...]) -> int | None:
    """The draw that all comparisons of two draws are about, each of the others in one of them."""
    if any(len(listed) > 2 for listed in terms):
        return None
    links = [frozenset(at for at, _ in listed) for listed in terms if len(listed) == 2]
    counts = Counter(at for link in links for at in link)
    if not links or len(set(links)) < len(links):
        return None if links else 0
    centre = max(sorted(counts), key=lambda at: counts[at])
    return centre if counts[centre] == len(links) else None


def _offset(term: Term, arguments: Mapping[str, object]) -> Offset:
    """The offset as a function of the input, quick where it is affine in whole numbers."""
    constant, listed = (
        (term.constant, term.terms) if isinstance(term, Affine) else (Fraction(0), ((term, Fraction(1)),))
    )
    if isinstance(term, Constant):
        value = _plain(exact(term))
        return lambda given: value
    inputs = [(inner.path, _plain(c)) for inner, c in listed if isinstance(inner, Input)]
    if len(inputs) < len(listed):
        return lambda given: rational_at(term, given, arguments)
    start = _plain(constant)

    def affine(given: Any) -> Number:
        total = start
        for path, c in inputs:
            content = at_path(given, path)
            total += c * (content if type(content) is int else _read(content))
        return total

    return affine


def _read(content: object) -> Fraction:
    constant = from_python(content)
    assert constant is not None, "an input that is no scalar"
    return exact(constant)


def _plain(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else value
