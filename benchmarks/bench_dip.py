"""How long `.dip` files take, in processor seconds, beside Python's own parser and the tracing of Python forms."""

from __future__ import annotations

import ast
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dpverdict.catalog import find
from dpverdict.mechanism.dip_language.program_file import mechanism_from_file, program_file_of

ROUNDS = 5
LINES = 1_000
EXAMPLES = Path(__file__).parents[1] / "examples" / "dipc"


def long_file(lines: int) -> str:
    """A file of so many lines: arithmetic on ints, and a comparison of noise in every fourth line."""
    head = [
        "-5 5",
        "input int q0 -1 1;",
        "int x;",
        "x = q0;",
        "real r;",
        'r = Lap "eps / 2" q0;',
        "bool b;",
        "b = true;",
    ]
    body: list[str] = []
    while len(head) + len(body) < lines - 1:
        at = len(body)
        body += [f"int x{at};", f"x{at} = x - x;", f"bool b{at};", f"b{at} = r >= x;"]
    return "\n".join([*head, *body[: lines - 1 - len(head)], "return b x;", ""])


def median(work: Callable[[], object]) -> float:
    """Processor seconds: other work on the machine does not count."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> None:
    """One line per question."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "long.dip")
        file.write_text(long_file(LINES), encoding="utf-8")
        start = time.process_time()
        mechanism_from_file(file)
        first = time.process_time() - start
        read = median(lambda: mechanism_from_file(file))
        python = median(lambda: ast.parse("\n".join(f"x{at} = x - x" for at in range(LINES))))
        print(f"{LINES:,} lines: {first:.3f} s the first time, {read:.3f} s again (target 0.5 s); ", end="")
        print(f"{read / python:.0f} times Python's parser")
        both = median(lambda: mechanism_from_file(file).program_for([0]))
        print(f"{LINES:,} lines, read and explored: {both:.3f} s, {both / read:.1f} times the reading")
    for name, catalogue in (("svt1-5", "svt1"), ("svt2-5", "svt2"), ("svt6-5", "svt6")):
        _compared(name, catalogue)


def _compared(name: str, catalogue: str) -> None:
    """A file beside the tracing of its Python form."""
    file = EXAMPLES / f"{name}.dip"
    program = mechanism_from_file(file).program_for([0] * 5)
    mine = median(lambda: mechanism_from_file(file).program_for([0] * 5))
    function = find(catalogue).mechanism.function
    traced = median(lambda: type(find(catalogue).mechanism)(function).program_for([0] * 5))
    found = program_file_of(mechanism_from_file(file))
    assert found is not None
    states = len(found.chain([0] * 5).states)
    print(f"{name}: {mine:.3f} s, {program.paths} paths, {states} states; {mine / traced:.1f} times the Python form")


if __name__ == "__main__":
    main()
