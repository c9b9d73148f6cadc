"""The Laplace mechanism as an executable: it needs nothing but Python, and nothing of dpverdict.

    dpverdict sample 'exec:python examples/executable_laplace.py --epsilon 1' --input 0 --runs 1e5

It follows docs/executables.md: one line of JSON for each request on standard input, one for each reply on standard
output.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys


def laplace(generator: random.Random, scale: float) -> float:
    """Laplace noise: an exponential size with a random sign."""
    size = -scale * math.log(1.0 - generator.random())
    return size if generator.random() < 0.5 else -size


def answer(request: dict, scale: float) -> dict:
    """The reply to a request.  Nothing is kept from one request to the next: the seed alone decides."""
    generator = random.Random(request["seed"])
    centre = request["input"]
    return {"id": request["id"], "outcomes": [centre + laplace(generator, scale) for _ in range(request["runs"])]}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--epsilon", type=float, default=1.0)
    scale = 1.0 / options.parse_args().epsilon

    sys.stdin.readline()  # the hello of dpverdict: it says which versions it speaks
    send({"hello": "laplace", "version": 1, "seed": True, "max_runs": 100_000, "inputs": ["number"]})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = answer(request, scale)
        except (TypeError, ValueError, KeyError) as error:
            reply = {"id": request.get("id"), "error": type(error).__name__, "message": str(error)}
        send(reply)


def send(message: dict) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()  # without this the reply would wait in a buffer, and dpverdict for the reply


if __name__ == "__main__":
    main()
