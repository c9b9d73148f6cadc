"""What running an executable through dpverdict costs over its own time.  Prints ratios measured in one run.

The executable is the C example; its own time is that of the same binary answering the same requests with its standard
output thrown away (/dev/null), its start included.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from dpverdict.execute import seeds
from dpverdict.execute.array_noise import keep_freed_memory
from dpverdict.mechanism.executable import Executable

SOURCE = Path(__file__).parent.parent / "examples" / "executable_geometric.c"
ROUNDS = 9


def build(folder: Path) -> Path | None:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    binary = folder / "geometric"
    subprocess.run([compiler, "-std=c99", "-O2", "-o", binary, SOURCE, "-lm"], check=True)
    return binary


def own_time(words: list[str], runs: int, requests: int) -> float:
    lines = [{"hello": "dpverdict", "versions": [1]}]
    lines += [{"id": number, "runs": runs, "seed": number, "input": 0} for number in range(1, requests + 1)]
    sent = "".join(json.dumps(line) + "\n" for line in lines).encode()
    start = time.perf_counter()
    subprocess.run(words, input=sent, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def through_dpverdict(executable: Executable, runs: int, requests: int) -> float:
    generator = seeds.generator(1, "bench", 0)
    executable.run(0, 1, generator)
    start = time.perf_counter()
    for _ in range(requests):
        executable.run(0, runs, generator)
    return time.perf_counter() - start


def compare(words: list[str], runs: int, requests: int, target: str) -> None:
    pairs = []
    with Executable(" ".join(words)) as executable:
        for _ in range(ROUNDS):
            pairs.append((own_time(words, runs, requests), through_dpverdict(executable, runs, requests)))
    # The shortest times: what else a machine does only ever adds time.
    own, ours = (1e9 * min(column) / runs / requests for column in zip(*pairs, strict=True))
    kind = "JSON" if "json" in words else "frames"
    print(f"{kind:6}, batches of {runs:9,} runs: own {own:5.1f} ns a run, through dpverdict {ours:5.1f} ns", end=" ")
    print(f"  ratio {ours / own:.3f}{target}")


def main() -> None:
    keep_freed_memory()
    with tempfile.TemporaryDirectory() as folder:
        binary = build(Path(folder))
        if binary is None:
            print("no C compiler here")
            return
        compare([str(binary), "1.0"], 1_000_000, 20, "  (target: at most 1.10)")
        compare([str(binary), "1.0"], 10_000_000, 2, "  (target: at most 1.10)")
        compare([str(binary), "1.0"], 100_000, 100, "")
        compare([str(binary), "1.0", "json"], 1_000_000, 3, "")


if __name__ == "__main__":
    main()
