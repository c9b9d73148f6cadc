"""What DiPC's tables 8.1 to 8.6 ask and print [ravi2019automated]; the catalogue's entries have most of the figures.

Three queries in {-1, 0, 1}, one hit, all neighbours and all ε, where a row says nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dpverdict.catalog import Counterexample, Published, find
from dpverdict.catalog.citations import RAVI

_VERDICTS = {True: "proved", False: "refuted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row that is to be answered: a catalogue entry, with other arguments and another claim where that is said."""

    table: str
    mechanism: str
    entry: str
    expected: str
    published: str
    published_seconds: float | None
    parameters: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    claim: Mapping[str, Any] = field(default_factory=dict)
    grows: bool = False
    """Whether the question is at how many queries the claim fails first, and with which pair."""
    printed: Counterexample | None = None
    notes: tuple[str, ...] = ()
    is_slow: bool = False


def cases() -> tuple[Case, ...]:
    """All rows, table by table."""
    return (*_table_1(), *_table_2(), *_table_3(), *_table_4(), *_table_5(), *_table_6(), *_slips())


# --- tables 8.1 and 8.2 -----------------------------------------------------------------------------------------------

_ALL = (
    *(f"dipc-svt{number}" for number in range(1, 7)),
    *(f"dipc-nmax{number}" for number in range(1, 5)),
    *("dipc-hist1", "dipc-hist2", "dipc-rand2"),
)
_NOTES = {
    "dipc-svt3": "with query noise ε/4 as in algorithm 3.2; figure 8.2 prints ε/2 (see slips)",
    "dipc-hist1": "neighbours under l1:1, which section 8.1 gives to NMax1-2 (see slips)",
}


def _table_1() -> Iterator[Case]:
    for name in _ALL:
        entry, printed = find(name), _published(name, "table 8.1")
        yield Case(
            table="8.1",
            mechanism=entry.algorithm,
            entry=name,
            expected=_VERDICTS[bool(entry.holds)],
            published=printed.verdict,
            published_seconds=printed.seconds,
            parameters="3 queries",
            notes=(_NOTES[name],) if name in _NOTES else (),
        )


_FIVE_BELOW = Counterexample((-1,) * 5, (0,) * 5, (False, False, False, False, 0), "27", RAVI)
"""Table 8.2's counterexample for SVT3, which the catalogue does not repeat: it is none."""

_FAILING = ("dipc-svt3-five", *_ALL[3:6], *_ALL[8:10], *_ALL[11:])


def _table_2() -> Iterator[Case]:
    for name in _FAILING:
        five = name == "dipc-svt3-five"
        entry, published = find(name), _published(name, "tables 8.2, 8.5" if five else "table 8.2")
        printed = next((one for one in entry.counterexamples if one.source == RAVI), _FIVE_BELOW)
        yield Case(
            table="8.2",
            mechanism=entry.algorithm,
            entry=name,
            expected="refuted",
            published=published.verdict,
            published_seconds=published.seconds,
            grows=True,
            printed=printed,
            is_slow=five,
        )


# --- tables 8.3 and 8.4 -----------------------------------------------------------------------------------------------

_SIZES = ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2))
_FIXED = {
    "1": dict(zip(_SIZES, (7, 43, 95, 307, 541, 1772, 2904), strict=True)),
    "1/2": dict(zip(_SIZES, (8, 46, 113, 265, 572, 1832, 3295), strict=True)),
}
"""Table 8.4: seconds at one ε."""


def _table_3() -> Iterator[Case]:
    for queries, hits in _SIZES:
        printed = _published("dipc-svt1", "table 8.3", _size(queries, hits))
        yield _grown("8.3", queries, hits, printed.seconds)


def _table_4() -> Iterator[Case]:
    for queries, hits in _SIZES:
        for epsilon, seconds in _FIXED.items():
            yield _grown("8.4", queries, hits, seconds[queries, hits], epsilon)


def _grown(table: str, queries: int, hits: int, seconds: float | None, epsilon: str | None = None) -> Case:
    return Case(
        table=table,
        mechanism="SVT1",
        entry="dipc-svt1",
        expected="proved",
        published="proved",
        published_seconds=seconds,
        parameters=_size(queries, hits) + ("" if epsilon is None else f", ε = {epsilon}"),
        arguments={"stop_after": hits},
        claim={"length": queries} | ({} if epsilon is None else {"epsilon": epsilon}),
        is_slow=queries == 4,
    )


def _size(queries: int, hits: int) -> str:
    return f"{queries} {'query' if queries == 1 else 'queries'}, {hits} {'hit' if hits == 1 else 'hits'}"


# --- table 8.5 --------------------------------------------------------------------------------------------------------

_ONE_PAIR = {1: 15, 2: 40, 3: 100, 4: 199, 5: 141}
_ALL_PAIRS = {1: 25, 2: 192, 3: 1562, 4: 10515, 5: 5042}


def _table_5() -> Iterator[Case]:
    for queries, seconds in _ONE_PAIR.items():
        one, other = [0] * queries, [1] * queries
        both = {"adjacency": [[one, other], [other, one]], "length": queries}
        yield _resized(queries, seconds, "[0,…] and [1,…]", both)
    for queries, seconds in _ALL_PAIRS.items():
        yield _resized(queries, seconds, "all pairs", {"length": queries})


def _resized(queries: int, seconds: float, which: str, claim: Mapping[str, Any]) -> Case:
    verdict = "refuted" if queries == 5 else "proved"
    return Case(
        table="8.5",
        mechanism="SVT3",
        entry="dipc-svt3-five",
        expected=verdict,
        published=verdict,
        published_seconds=seconds,
        parameters=f"{queries} {'query' if queries == 1 else 'queries'}, {which}",
        claim=claim,
        is_slow=queries >= 4 and which == "all pairs",
    )


# --- table 8.6 --------------------------------------------------------------------------------------------------------

_ONE, _TWO = "dipc-sparse", "dipc-sparse-twice"
_LAST, _OUTER = (False, False, True), (True, False, True)
_PAIRS = {
    (_ONE, "0"): Counterexample((0, 0, 0), (0, 0, 1), _LAST, "1.17e-16", RAVI),
    (_ONE, "exp(-4)"): Counterexample((0, 0, 1), (1, 1, 0), _LAST, "99/5", RAVI),
    (_TWO, "0"): Counterexample((0, 0, 0), (0, 0, 1), _OUTER, "7.54e-17", RAVI),
    (_TWO, "exp(-4)"): Counterexample((0, 0, 1), (1, 1, 0), _LAST, "43/5", RAVI),
}


def _table_6() -> Iterator[Case]:
    for name, middle in ((_ONE, "exp(-1/32)"), (_TWO, "exp(-2)")):
        for delta in ("0", middle, "exp(-4)"):
            slower, faster = (_published(name, "table 8.6", f"δ = {delta}, approach {way}") for way in (4, 5))
            yield Case(
                table="8.6",
                mechanism="Sparse",
                entry=name,
                expected="proved" if delta == middle else "refuted",
                published=faster.verdict,
                published_seconds=faster.seconds,
                parameters=f"{_size(3, 1 if name == _ONE else 2)}, δ = {delta}",
                claim={"factor": "1/2", "delta": delta},
                printed=_PAIRS.get((name, delta)),
                notes=(f"published seconds of approach 5; approach 4 took {slower.seconds:g} s",),
            )


# --- where the thesis says something else than it means ---------------------------------------------------------------


def _slips() -> Iterator[Case]:
    as_printed, cells, wider = (
        Case(
            table="slips",
            mechanism=mechanism,
            entry=entry,
            expected="refuted",
            published="proved",
            published_seconds=None,
        )
        for mechanism, entry in (("SVT3", "dipc-svt3-as-printed"), ("Hist1", "dipc-hist1"), ("Sparse", _TWO))
    )
    yield replace(
        as_printed,
        parameters="3 queries, query noise ε/2",
        notes=("the noise of figure 8.2; table 8.1 holds for ε/4 only",),
    )
    yield replace(
        cells,
        parameters="2 cells, neighbours linf:1",
        claim={"adjacency": "linf:1", "length": 2},
        notes=("section 8.1 gives the l1 neighbourhood to NMax1-2; it belongs to Hist1-2",),
    )
    yield replace(
        wider,
        parameters="3 queries, 2 hits, δ = exp(-2), on {-1,0,1}",
        claim={"factor": "1/2", "delta": "exp(-2)", "domain": "-1,0,1"},
        notes=("table 8.6 holds for queries in {0, 1} only",),
    )


def _published(name: str, table: str, note: str | None = None) -> Published:
    """The only figure of a table that the catalogue has for an entry, or the one with this note."""
    (found,) = (one for one in find(name).published if one.table == table and (note is None or one.note == note))
    return found
