"""DiPC's fifteen, with the parameters of the thesis's chapter 8: three queries in {-1, 0, 1}, one hit, every ε.

Real outputs are discretised among the edges (-1, 0, 1), or (0, 1) where a table says so.  Counterexamples are those of
table 8.2, the smallest that there are; some are shorter than three queries.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpverdict.catalog import histogram, randomised_response, selection, sparse_vector
from dpverdict.catalog.citations import DWORK_ROTH, LYU_SU_LI, RAVI
from dpverdict.catalog.entry import Counterexample, Entry, Kind, Promise, Published, Truth

_SMALL: dict[str, Any] = {"paper": RAVI, "domain": "-1,0,1", "length": 3}
_CELLS: dict[str, Any] = {**_SMALL, "adjacency": "l1:1", "example": (-1, 0, 1), "neighbour": (0, 0, 1)}
_BITS: dict[str, Any] = {
    "paper": RAVI,
    "domain": "0,1",
    "length": 3,
    "adjacency": "substitute:1",
    "example": (0, 1, 0),
    "neighbour": (1, 1, 0),
}
_SPARSE: dict[str, Any] = {
    "paper": RAVI,
    "algorithm": "Sparse",
    "domain": "0,1",
    "length": 3,
    "example": (0, 0, 1),
    "neighbour": (1, 1, 0),
}
_EDGES = (-1, 0, 1)
_BELOW, _ABOVE = False, True


def _table_1(seconds: float, verdict: str) -> tuple[Published, ...]:
    return (Published("DiPC", "table 8.1", RAVI, None, verdict, seconds),)


def _table_2(one: object, other: object, output: object, epsilon: str, note: str = "") -> tuple[Counterexample, ...]:
    return (Counterexample(one, other, output, epsilon, RAVI, note),)


def _exact(factor: str, about: str = "", source: Any = None) -> Truth:
    loss = "epsilon" if factor == "1" else f"{factor}*epsilon"
    return Truth(Kind.EXACT, f"the exact loss is {loss}", source, about, Fraction(factor))


def _grown(seconds: dict[str, float]) -> tuple[Published, ...]:
    """Table 8.3: queries and hits, seconds."""
    return tuple(Published("DiPC", "table 8.3", RAVI, None, "proved", s, size) for size, s in seconds.items())


def _table_6(delta: str, verdict: str, *seconds: float) -> tuple[Published, ...]:
    """Table 8.6: δ, and the seconds of approaches 4 and 5."""
    notes = (f"δ = {delta}, approach 4", f"δ = {delta}, approach 5")
    return tuple(Published("DiPC", "table 8.6", RAVI, None, verdict, s, n) for s, n in zip(seconds, notes, strict=True))


_SVT = (
    Entry(
        name="dipc-svt1",
        title="Sparse vector technique, algorithm 1 (correct)",
        algorithm="SVT1",
        mechanism=sparse_vector.svt1,
        example=(-1, -1, 0),
        neighbour=(0, 0, -1),
        holds=True,
        truths=(Truth(Kind.HOLDS, "holds", LYU_SU_LI), _exact("3/4")),
        published=(
            *_table_1(825, "proved"),
            *_grown({"1 query, 1 hit": 16, "2 queries, 1 hit": 113, "2 queries, 2 hits": 155}),
            *_grown({"3 queries, 1 hit": 825, "3 queries, 2 hits": 1202, "4 queries, 1 hit": 4727}),
            *_grown({"4 queries, 2 hits": 6715}),
        ),
        notes="chapter 3 has a wrong sign in Pr[below, above | 0, 1]: right is (24y³ - 21y² + 8y - 1)/(48y³) with "
        "y = exp(epsilon/4)",
        **_SMALL,
    ),
    Entry(
        name="dipc-svt2",
        title="Sparse vector technique, algorithm 2 (correct, fresh thresholds)",
        algorithm="SVT2",
        mechanism=sparse_vector.svt2,
        example=(-1, -1, 0),
        neighbour=(0, 0, -1),
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds", DWORK_ROTH),
            _exact("3/4"),
            _exact("3/8", "two hits"),
        ),
        published=_table_1(768, "proved"),
        notes="with one hit it is the same as algorithm 1",
        **_SMALL,
    ),
    Entry(
        name="dipc-svt3",
        title="Sparse vector technique, algorithm 3, with enough noise for three queries",
        algorithm="SVT3",
        mechanism=sparse_vector.svt3_discretised.with_arguments({"query_noise": 4, "edges": _EDGES}),
        example=(-1, -1, -1),
        neighbour=(0, 0, 0),
        holds=True,
        truths=(sparse_vector.svt3_truths(3, 4)[0],),
        published=_table_1(3816, "proved"),
        notes="figure 8.2 prints query noise of rate ε/(2cΔ), but the tables hold for ε/(4cΔ) only, as in algorithm "
        "3.2",
        **_SMALL,
    ),
    Entry(
        name="dipc-svt3-five",
        title="Sparse vector technique, algorithm 3, with five queries (wrong)",
        algorithm="SVT3",
        mechanism=sparse_vector.svt3_discretised.with_arguments({"query_noise": 4, "edges": (0, 1)}),
        example=(-1,) * 5,
        neighbour=(0,) * 5,
        holds=False,
        truths=(
            _exact("5/4"),
            _exact("1/4", "one query"),
            _exact("1/2", "two queries"),
        ),
        counterexamples=(
            Counterexample((-1,) * 5, (0,) * 5, (*(_BELOW,) * 4, 0), "1/4", note="0.000993681 against 0.000744048"),
            Counterexample((0,) * 5, (1,) * 5, (*(_BELOW,) * 4, 0), "27", note="in place of the pair of table 8.2"),
        ),
        published=(
            Published("DiPC", "tables 8.2, 8.5", RAVI, None, "refuted", 5042),
            Published("DiPC", "table 8.5", RAVI, None, "refuted", 141, "one pair of inputs"),
        ),
        notes="the verdict of table 8.2 is right, but its pair [-1]⁵, [0]⁵ at ε = 27 with output 0 is no violation; "
        "chapter 3 prints p₂ of the input [1, 1, 1, 1, 1] for [1, 1, 1, 1, 0]",
        **{**_SMALL, "length": 5},
    ),
    Entry(
        name="dipc-svt3-as-printed",
        title="Sparse vector technique, algorithm 3, with the noise that figure 8.2 prints (wrong)",
        algorithm="SVT3",
        mechanism=sparse_vector.svt3_discretised.with_arguments({"query_noise": 2, "edges": _EDGES}),
        example=(-1, -1, -1),
        neighbour=(0, 0, 0),
        holds=False,
        truths=(_exact("3/2"), _exact("1", "two queries")),
        counterexamples=(
            Counterexample((-1,) * 3, (0,) * 3, (_BELOW, _BELOW, -1), "1/4", note="0.00459634 against 0.00315901"),
        ),
        notes="a slip of the thesis, whose table 8.1 says that three queries are private",
        **_SMALL,
    ),
    Entry(
        name="dipc-svt4",
        title="Sparse vector technique, algorithm 4 (too little query noise)",
        algorithm="SVT4",
        mechanism=sparse_vector.svt4,
        example=(0, 0, 0),
        neighbour=(1, 1, -1),
        holds=False,
        truths=sparse_vector.SVT4_TRUTHS,
        counterexamples=_table_2((-1, 0), (0, -1), (_BELOW, _ABOVE), "27/50"),
        published=(*_table_1(269, "refuted"), Published("DiPC", "table 8.2", RAVI, None, "refuted", 81, "2 queries")),
        **_SMALL,
    ),
    Entry(
        name="dipc-svt5",
        title="Sparse vector technique, algorithm 5 (no query noise)",
        algorithm="SVT5",
        mechanism=sparse_vector.svt5,
        example=(-1, 0, 0),
        neighbour=(-1, -1, 0),
        holds=False,
        truths=sparse_vector.SVT5_TRUTHS,
        counterexamples=_table_2((-1, 0), (-1, -1), (_BELOW, _ABOVE), "27"),
        published=(*_table_1(2, "refuted"), Published("DiPC", "table 8.2", RAVI, None, "refuted", 2, "2 queries")),
        **_SMALL,
    ),
    Entry(
        name="dipc-svt6",
        title="Sparse vector technique, algorithm 6 (no stop)",
        algorithm="SVT6",
        mechanism=sparse_vector.svt6,
        example=(-1, -1, 0),
        neighbour=(0, 0, -1),
        holds=False,
        truths=(
            Truth(Kind.UPPER, "n queries have at most n·epsilon/2", factor=Fraction(3, 2)),
            _exact("1/2", "one query"),
            _exact("1", "two queries"),
        ),
        counterexamples=_table_2((-1, -1, 0), (0, 0, -1), (_BELOW, _BELOW, _ABOVE), "67/92"),
        published=(*_table_1(661, "refuted"), Published("DiPC", "table 8.2", RAVI, None, "refuted", 661)),
        **_SMALL,
    ),
)

_SELECTION = (
    Entry(
        name="dipc-nmax1",
        title="The index of the noisy maximum, Laplace noise (correct)",
        algorithm="NMax1",
        mechanism=selection.noisy_maximum,
        example=(0, 0, 0),
        neighbour=(1, -1, -1),
        holds=True,
        truths=(_exact("1"),),
        published=_table_1(197, "proved"),
        **_SMALL,
    ),
    Entry(
        name="dipc-nmax2",
        title="The index of the noisy maximum, exponential noise (correct)",
        algorithm="NMax2",
        mechanism=selection.noisy_maximum_exponential,
        example=(0, 0, 0),
        neighbour=(1, -1, -1),
        holds=True,
        truths=selection.EXPONENTIAL_TRUTHS,
        published=_table_1(59, "proved"),
        **_SMALL,
    ),
    Entry(
        name="dipc-nmax3",
        title="The noisy maximum itself, Laplace noise (wrong)",
        algorithm="NMax3",
        mechanism=selection.noisy_maximum_value.with_arguments({"edges": _EDGES}),
        example=(-1, -1, -1),
        neighbour=(0, 0, 0),
        holds=False,
        truths=(_exact("3/2"), _exact("1/2", "one query")),
        counterexamples=(
            *_table_2((-1,) * 3, (0,) * 3, -1, "27"),
            Counterexample((-1,) * 3, (0,) * 3, -1, "1/4", note="0.125 against 0.0859112"),
        ),
        published=(*_table_1(310, "refuted"), Published("DiPC", "table 8.2", RAVI, None, "refuted", 310)),
        **_SMALL,
    ),
    Entry(
        name="dipc-nmax4",
        title="The noisy maximum itself, exponential noise (wrong)",
        algorithm="NMax4",
        mechanism=selection.noisy_maximum_exponential_value.with_arguments({"edges": _EDGES}),
        example=(-1, -1, -1),
        neighbour=(0, 0, 0),
        holds=False,
        truths=selection.EXPONENTIAL_VALUE_TRUTHS,
        counterexamples=_table_2((-1,), (0,), 0, "27"),
        published=(*_table_1(58, "refuted"), Published("DiPC", "table 8.2", RAVI, None, "refuted", 2, "1 query")),
        **_SMALL,
    ),
)

_OTHERS = (
    Entry(
        name="dipc-hist1",
        title="Noisy histogram (correct)",
        algorithm="Hist1",
        mechanism=histogram.histogram.with_arguments({"edges": _EDGES}),
        holds=True,
        truths=(_exact("1"), _exact("2", "neighbours under linf:1, two cells")),
        published=_table_1(1450, "proved"),
        notes="the neighbourhood that section 8.1 calls its second one, and gives to NMax1-2, belongs to Hist1-2: "
        "under linf:1 two cells violate the claim, with [-1, -1] against [0, 0]",
        **_CELLS,
    ),
    Entry(
        name="dipc-hist2",
        title="Noisy histogram with the scale upside down (wrong)",
        algorithm="Hist2",
        mechanism=histogram.histogram_wrong_scale.with_arguments({"edges": _EDGES}),
        holds=False,
        truths=(
            Truth(
                Kind.EXACT,
                "the exact loss is 1/epsilon, so the claim fails for epsilon below 1 and holds from 1 on",
                loss="1/epsilon",
            ),
        ),
        counterexamples=_table_2((-1,), (0,), (-1,), "9/34"),
        published=(*_table_1(55, "refuted"), Published("DiPC", "table 8.2", RAVI, None, "refuted", 3, "1 query")),
        **_CELLS,
    ),
    Entry(
        name="dipc-rand1",
        title="Randomised response (correct)",
        algorithm="Rand1",
        mechanism=randomised_response.randomised_response,
        holds=True,
        truths=(_exact("1"),),
        notes="below and above are written 0 and 1",
        **_BITS,
    ),
    Entry(
        name="dipc-rand2",
        title="Randomised response with a probability that is linear in epsilon (wrong)",
        algorithm="Rand2",
        mechanism=randomised_response.linear_response,
        epsilon="0,1",
        holds=False,
        truths=(
            Truth(
                Kind.EXACT,
                "the exact loss is log((1 + epsilon)/(1 - epsilon)), which is above epsilon everywhere",
                loss="log((1+epsilon)/(1-epsilon))",
            ),
        ),
        counterexamples=_table_2((0,), (1,), (_BELOW,), "9/34"),
        published=(*_table_1(0, "refuted"), Published("DiPC", "table 8.2", RAVI, None, "refuted", 0, "1 query")),
        notes="below and above are written 0 and 1; above epsilon = 1 the probability (1 - epsilon)/2 is negative",
        **_BITS,
    ),
    Entry(
        name="dipc-sparse",
        title="Sparse: noise for one hit, for (ε/2, δ)-differential privacy",
        mechanism=sparse_vector.sparse,
        promise=Promise("approximate", Fraction(1, 2), 1, Fraction("0.96924"), "exp(-1/32)"),
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds for every epsilon, on {-1, 0, 1} as well", about="δ = exp(-1/32)"),
            _exact("3/4", "as a pure claim, queries in {-1, 0, 1}"),
            Truth(Kind.FAILS, "fails", RAVI, "δ = 0"),
            Truth(Kind.FAILS, "fails", RAVI, "δ = exp(-4)"),
        ),
        published=(
            *_table_6("0", "refuted", 55, 47),
            *_table_6("exp(-1/32)", "proved", 256, 167),
            *_table_6("exp(-4)", "refuted", 211, 148),
        ),
        notes="σ is ε/2, which figure 8.6 gives for one hit and δ = exp(-1/32); with one hit it is algorithm 1. "
        "Table 8.6's pair [0 0 0], [0 0 1] for δ = 0 is no violation; [0 0 1] against [1 1 0] with below, below, "
        "above is one",
        **_SPARSE,
    ),
    Entry(
        name="dipc-sparse-twice",
        title="Sparse: noise for one hit, but two hits, for (ε/2, δ)-differential privacy",
        mechanism=sparse_vector.sparse.with_arguments({"stop_after": 2}),
        promise=Promise("approximate", Fraction(1, 2), 1, Fraction("0.13534"), "exp(-2)"),
        holds=True,
        truths=(
            Truth(Kind.HOLDS, "holds for every epsilon", about="δ = exp(-2)"),
            Truth(Kind.HOLDS, "holds for every epsilon", about="δ = exp(-1/64)"),
            Truth(Kind.FAILS, "fails", about="δ = exp(-2), queries in {-1, 0, 1}"),
            Truth(Kind.FAILS, "fails", RAVI, "δ = 0"),
            Truth(Kind.FAILS, "fails", RAVI, "δ = exp(-4)"),
        ),
        published=(
            *_table_6("0", "refuted", 93, 72),
            *_table_6("exp(-2)", "proved", 44882, 289),
            *_table_6("exp(-4)", "refuted", 659, 181),
        ),
        notes="σ is ε/2, which figure 8.6 gives for two hits and δ = exp(-1/64)",
        **_SPARSE,
    ),
)

ENTRIES = (*_SVT, *_SELECTION, *_OTHERS)
