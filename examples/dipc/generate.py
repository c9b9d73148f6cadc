"""Writes DiPC's fifteen algorithms, for one to five queries, in the language of its input files.

    python examples/dipc/generate.py

They are those of ravi2019automated, chapter 8.  Thresholds are 0 and queries have sensitivity 1, in {-1, 0, 1}; reals
are output through the thresholds -1 and 0, that is seq = (-1 < 0 < 1).  Outputs that are not decided when a program
stops are false, or 2 where they are numbers.  SVT3's query noise has the rate ε/(4c), of algorithm 3.2, which the
tables were made with; figure 8.2 prints ε/(2c).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

MOST_QUERIES = 5
NAMES = ("zero", "one", "two", "three", "four")
BOTTOM = "two"


def variable(kind: str, name: str, value: object) -> list[str]:
    """A declaration and its first value."""
    return [f"{kind} {name};", f"{name} = {value};"]


def head(queries: int, kind: str = "int") -> list[str]:
    """The range line, the inputs, and the numbers that operands may be."""
    bounds = " -1 1" if kind == "int" else ""
    lines = ["-5 5", *(f"input {kind} q{at}{bounds};" for at in range(queries))]
    if kind == "int":
        lines += variable("int", "minus", -1)
        for number, name in enumerate(NAMES[: max(3, queries)]):
            lines += variable("int", name, number)
    return lines


def leave(queries: int) -> str:
    return f"return {' '.join(f'out{at}' for at in range(queries))};"


def noise(name: str, rate: str, mean: str) -> list[str]:
    return [f"real {name};", f'{name} = Lap "{rate}" {mean};']


def edges() -> list[str]:
    return [*variable("real", "low", "minus"), *variable("real", "high", "zero")]


def discretised(real: str, out: str, at: int) -> list[str]:
    """out = -1, 0 or 1, for a real that is at most -1, at most 0, or larger."""
    return [
        f"bool below{at};",
        f"below{at} = {real} <= low;",
        f"bool between{at};",
        f"between{at} = {real} <= high;",
        f"if below{at} then",
        f"{out} = minus;",
        "else",
        f"if between{at} then",
        f"{out} = zero;",
        "else",
        f"{out} = one;",
        "fi;",
        "fi;",
    ]


# --- the sparse vector technique -----------------------------------------------------------------------------


def counted(queries: int, then: list[str], last: bool) -> list[str]:
    """What follows an answer above the threshold: count it, and stop after c of them."""
    stop = ["count = count + one;", "stop = count >= c;", "if stop then", leave(queries), "fi;"]
    return stop + ([] if last else then)


def svt(queries: int, hits: int, rates: tuple[str, str], fresh: bool = False) -> Iterator[str]:
    """Answers above a noisy threshold, until c of them are; with a fresh threshold after each of them or not."""
    threshold, query = rates
    yield from head(queries)
    yield from [*variable("int", "c", hits), *variable("int", "count", 0), *variable("bool", "stop", "false")]
    for at in range(queries):
        yield from variable("bool", f"out{at}", "false")
    yield from noise("limit0", threshold, "zero")
    for at in range(queries):
        last, limit = at == queries - 1, f"limit{at if fresh else 0}"
        yield from noise(f"r{at}", query, f"q{at}")
        yield f"out{at} = r{at} >= {limit};"
        renewed = fresh and not last
        if renewed:
            yield f"real limit{at + 1};"
        yield f"if out{at} then"
        yield from counted(queries, [f'limit{at + 1} = Lap "{threshold}" zero;'] if renewed else [], last)
        if renewed:
            yield from ["else", f"limit{at + 1} = {limit};"]
        yield "fi;"
    yield leave(queries)


def svt3(queries: int) -> Iterator[str]:
    """The noisy answer itself is released, rounded to the thresholds."""
    yield from [*head(queries), *variable("int", "c", 1), *edges()]
    for at in range(queries):
        yield from variable("int", f"out{at}", BOTTOM)
    yield from noise("limit", "eps / 2", "zero")
    for at in range(queries):
        yield from noise(f"r{at}", "eps / ( 4 * c )", f"q{at}")
        yield from [f"bool above{at};", f"above{at} = r{at} >= limit;", f"if above{at} then"]
        yield from [*discretised(f"r{at}", f"out{at}", at), leave(queries), "fi;"]
    yield leave(queries)


def unstopped(queries: int, query: str | None) -> Iterator[str]:
    """Every query is answered, with noise or (SVT5) without."""
    yield from [*head(queries), *noise("limit", "eps / 2", "zero")]
    for at in range(queries):
        yield from noise(f"r{at}", query, f"q{at}") if query else variable("real", f"r{at}", f"q{at}")
        yield from variable("bool", f"out{at}", f"r{at} >= limit")
    yield leave(queries)


# --- noisy maximum -------------------------------------------------------------------------------------------


def two_sided(at: int) -> list[str]:
    return noise(f"r{at}", "eps / 2", f"q{at}")


def one_sided(at: int) -> list[str]:
    """|Lap| is one-sided Laplace noise (example 5.2 of ravi2019automated, with the sign that it needs)."""
    return [
        *noise(f"x{at}", "eps / 2", "zero"),
        *variable("bool", f"positive{at}", f"x{at} >= zero"),
        f"real r{at};",
        f"if positive{at} then",
        f"r{at} = x{at} + q{at};",
        "else",
        f"r{at} = -1 * x{at} + q{at};",
        "fi;",
    ]


def largest(queries: int, noisy: Callable[[int], list[str]], by_index: bool) -> Iterator[str]:
    """The index of the largest noisy query, or its value rounded to the thresholds."""
    yield from head(queries)
    yield from variable("int", "out0", "zero")
    for at in range(queries):
        yield from noisy(at)
    top = "r0"
    for at in range(1, queries):
        yield from [*variable("bool", f"larger{at}", f"r{at} > {top}"), f"real top{at};", f"if larger{at} then"]
        yield from [f"top{at} = r{at};", *([f"out0 = {NAMES[at]};"] if by_index else [])]
        yield from ["else", f"top{at} = {top};", "fi;"]
        top = f"top{at}"
    if not by_index:
        yield from [*edges(), *discretised(top, "out0", 0)]
    yield leave(1)


# --- histograms and randomised response ----------------------------------------------------------------------


def histogram(queries: int, rate: str) -> Iterator[str]:
    yield from [*head(queries), *edges()]
    for at in range(queries):
        yield from [*noise(f"r{at}", rate, f"q{at}"), f"int out{at};", *discretised(f"r{at}", f"out{at}", at)]
    yield leave(queries)


def flipped(queries: int, probability: str) -> Iterator[str]:
    yield from head(queries, "bool")
    for at in range(queries):
        yield from [*variable("bool", f"out{at}", f"q{at}"), f"Prob{{{probability}}} out{at} = ! q{at};"]
    yield leave(queries)


FAMILIES: dict[str, Callable[[int, int], Iterator[str]]] = {
    "svt1": lambda queries, hits: svt(queries, hits, ("eps / 2", "eps / ( 4 * c )")),
    "svt2": lambda queries, hits: svt(queries, hits, ("eps / ( 2 * c )", "eps / ( 4 * c )"), fresh=True),
    "svt3": lambda queries, _: svt3(queries),
    "svt4": lambda queries, hits: svt(queries, hits, ("eps / 4", "3 * eps / 4")),
    "svt5": lambda queries, _: unstopped(queries, None),
    "svt6": lambda queries, _: unstopped(queries, "eps / 2"),
    "nmax1": lambda queries, _: largest(queries, two_sided, by_index=True),
    "nmax2": lambda queries, _: largest(queries, one_sided, by_index=True),
    "nmax3": lambda queries, _: largest(queries, two_sided, by_index=False),
    "nmax4": lambda queries, _: largest(queries, one_sided, by_index=False),
    "hist1": lambda queries, _: histogram(queries, "eps"),
    "hist2": lambda queries, _: histogram(queries, "1 / eps"),
    "rand1": lambda queries, _: flipped(queries, "1/(Exp[eps]+1)"),
    "rand2": lambda queries, _: flipped(queries, "(1-eps)/2"),
    "sparse": lambda queries, hits: svt(queries, hits, ("eps / 2", "eps / 4"), fresh=True),
}
"""By name: the lines for so many queries, and so many hits before a stop."""

WITH_TWO_HITS = ("svt1", "svt2", "sparse")


def files() -> Iterator[tuple[str, str]]:
    """Every file's name and content."""
    for name, lines in FAMILIES.items():
        for queries in range(1, MOST_QUERIES + 1):
            yield f"{name}-{queries}.dip", "\n".join(lines(queries, 1)) + "\n"
            if name in WITH_TWO_HITS and queries > 1:
                yield f"{name}-{queries}-c2.dip", "\n".join(lines(queries, 2)) + "\n"


def main() -> None:
    for name, content in files():
        (Path(__file__).parent / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
