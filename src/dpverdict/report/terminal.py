"""Plain text for a terminal: bars, histograms, tables and pages, from plain numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

_EIGHTHS = "▏▎▍▌▋▊▉█"
_BAR = 30
_LABEL = 80
_PAGE = 100


def bars(rows: Sequence[tuple[str, int]], runs: int, rest: Sequence[tuple[str, int]] = ()) -> list[str]:
    """One line for each label and count: count, share of the runs, and a bar; no bar for what `rest` sums up."""
    shown = [(_shortened(label), count) for label, count in (*rows, *rest)]
    if not shown:
        return []
    labels = max(len(label) for label, _ in shown)
    counts = max(len(f"{count:,}") for _, count in shown)
    longest = max((count for _, count in rows), default=0)
    drawn = [_bar(count, longest) for _, count in rows] + [""] * len(rest)
    return [
        f"  {label:<{labels}}  {count:>{counts},}  {share(count, runs):>8}  {bar}".rstrip()
        for (label, count), bar in zip(shown, drawn, strict=True)
    ]


def histogram(edges: Sequence[float], inside: Sequence[int], outside: tuple[int, int, int], runs: int) -> list[str]:
    """One line for each bin; `outside` counts what is below, above and not finite, shown where there is any."""
    below, above, not_finite = outside
    names = [_edge(edge, edges) for edge in edges]
    width = max(map(len, names))
    between = zip(names, names[1:], inside, strict=False)
    rows = [(f"{low:>{width}} to {high:>{width}}", count) for low, high, count in between]
    if below:
        rows.insert(0, (f"{'below':>{width}}    {names[0]:>{width}}", below))
    if above:
        rows.append((f"{'above':>{width}}    {names[-1]:>{width}}", above))
    if not_finite:
        rows.append(("not finite", not_finite))
    return bars(rows, runs)


def share(count: int, runs: int) -> str:
    """A share of the runs in per cent; a small one keeps two digits."""
    part = count / runs if runs else 0.0
    return f"{part:.2%}" if part >= 0.0001 or not part else f"{part * 100:.2g}%"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Left-aligned columns under their names."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = [header, ["-" * width for width in widths], *rows]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def page(title: str, fields: Sequence[tuple[str, str]]) -> list[str]:
    """A title, then each named field wrapped beside its name; empty fields are left out."""
    names = max((len(name) for name, text in fields if text), default=0)
    lines = [title, "=" * len(title)]
    for name, text in fields:
        if text:
            indent = " " * (names + 2)
            first = f"{name:<{names}}  "
            lines += _wrapped(text, first, indent)
    return lines


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    wrapper = textwrap.TextWrapper(_PAGE, initial_indent=first, subsequent_indent=rest)
    # Commands and inputs must survive being copied, so no word is ever cut.
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return wrapper.wrap(text)


def _bar(count: int, longest: int) -> str:
    eighths = round(count / longest * _BAR * 8) if longest else 0
    full, rest = divmod(max(eighths, 1 if count else 0), 8)
    return _EIGHTHS[-1] * full + (_EIGHTHS[rest - 1] if rest else "")


def _shortened(label: str) -> str:
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"


def _edge(edge: float, edges: Sequence[float]) -> str:
    """An edge with as many digits as its neighbours need to differ."""
    for digits in range(4, 17):
        names = [f"{other:.{digits}g}" for other in edges]
        if len(set(names)) == len(edges):
            return f"{edge:.{digits}g}"
    return repr(edge)
