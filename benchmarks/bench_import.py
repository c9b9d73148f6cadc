"""How long imports take, in fresh interpreters, beside that of NumPy, which everything needs."""

from __future__ import annotations

import subprocess
import sys
import time

TIMES = 5


def shortest(code: str) -> float:
    """The shortest of several starts."""
    found = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        subprocess.run((sys.executable, "-c", code), check=True)
        found.append(time.perf_counter() - begun)
    return min(found)


def main() -> None:
    bare, numpy = shortest("pass"), shortest("import numpy")
    print(f"an interpreter: {bare:.3f} s; with NumPy: {numpy:.3f} s")
    for name, code in (
        ("import dpverdict", "import dpverdict"),
        ("dpverdict.mechanism", "import dpverdict; dpverdict.mechanism"),
        ("the command line", "import dpverdict.cli"),
    ):
        taken = shortest(code)
        print(f"{name}: {taken:.3f} s, {taken - bare:.3f} s beyond an interpreter, {taken / numpy:.2f} times NumPy")
    print("(target: import dpverdict < 0.4 s)")


if __name__ == "__main__":
    main()
