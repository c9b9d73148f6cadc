"""Seeds: the same place gives the same stream, everywhere and always; another place gives another one."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from dpverdict.errors import MissingExtraError, UsageError
from dpverdict.execute import gpu, seeds


def start(*place: Any) -> tuple[int, ...]:
    return tuple(seeds.generator(*place).integers(0, 2**64, 4, np.uint64).tolist())


def test_golden_streams() -> None:
    # These numbers stand in certificates: they may never change.
    assert start(1, "job", 0) == GOLDEN
    assert start(0, "", 0, "confirm") == GOLDEN_CONFIRM


GOLDEN = (6656446733145521055, 9539151686725799832, 8078112037129849363, 10977908270147014427)
GOLDEN_CONFIRM = (16710506522471548521, 4338009718030104323, 10008960873721806771, 3644036243197028364)


def test_the_same_place_gives_the_same_stream() -> None:
    assert start(7, "ε \udcff", 3, "run") == start(np.int64(7), "ε \udcff", 3)


def test_another_place_gives_another_stream() -> None:
    places = list(
        itertools.product(
            (0, 1, 2**32, 2**32 + 1, 2**64, 2**64 + 1, 2**200), ("", "0", "a", "ab", "a\0"), (0, 1, 2**32), ("run", "b")
        )
    )
    streams = [start(*place) for place in places]
    assert len({number for stream in streams for number in stream}) == 4 * len(places)


def test_streams_do_not_depend_on_the_process() -> None:
    code = "from dpverdict.execute import seeds; print(*seeds.generator(1, 'job', 0).integers(0, 2**64, 4, 'uint64'))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert tuple(map(int, found.stdout.split())) == GOLDEN


def test_neighbouring_blocks_are_not_correlated() -> None:
    # 2,000 means of ±1 products, each over 1,000 draws; a correct generator fails with a probability below 1e-9
    # (Hoeffding: 2 · 2000 · exp(-1000 t² / 2) at t = 0.241).
    signs = np.array([seeds.generator(3, "pairs", block).random(1000) < 0.5 for block in range(201)]) * 2 - 1
    products = [(signs[i] * signs[i + gap]).mean() for gap in range(1, 11) for i in range(200 - gap)]
    assert len(products) <= 2000
    assert np.abs(products).max() < 0.241


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None, True, np.int64(-5), [1]])
def test_a_seed_that_is_no_whole_number_from_zero_is_refused(seed: Any) -> None:
    with pytest.raises(UsageError) as refused:
        seeds.generator(seed, "job", 0)
    assert f"got {seed!r}" in str(refused.value)
    assert "try: --seed 1" in str(refused.value)


@pytest.mark.parametrize("block", [-1, 0.5, True])
def test_a_block_that_is_no_whole_number_from_zero_is_refused(block: Any) -> None:
    with pytest.raises(UsageError, match="block"):
        seeds.generator(1, "job", block)


def test_fresh_seeds_differ_and_stay_exact_in_json() -> None:
    fresh = {seeds.fresh_seed() for _ in range(100)}
    assert len(fresh) == 100  # equal ones: below 1e-12
    assert all(0 <= seed < 2**53 for seed in fresh)


def test_keys_differ_where_streams_do() -> None:
    jax = pytest.importorskip("jax")
    places = [(1, "job", 0), (1, "job", 1), (1, "jobs", 0), (2, "job", 0), (1, "job", 0, "confirm")]
    keys = [tuple(jax.random.key_data(gpu.key(*place)).tolist()) for place in places]
    assert len(set(keys)) == len(places)
    assert keys[0] == tuple(jax.random.key_data(gpu.key(1, "job", 0)).tolist())


def test_jax_noise_is_fresh_at_every_call_and_wide_under_jit() -> None:
    pytest.importorskip("jax")

    def draw(key: Any) -> Any:
        noise = gpu.JaxNoise(key)
        return [noise.uniform(3), noise.uniform(3), noise.exponential(0), noise.normal(1), noise.laplace(2)]

    drawn = [np.asarray(one) for one in gpu.jit(draw)(gpu.key(1, "job", 0))]
    assert not np.array_equal(drawn[0], drawn[1])
    assert [one.shape for one in drawn] == [(3,), (3,), (0,), (1,), (2,)]
    assert {one.dtype for one in drawn} == {np.dtype(np.float64)}


def test_without_jax_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax.numpy", None)
    with pytest.raises(MissingExtraError, match="pip install 'dpverdict\\[gpu\\]'"):
        gpu.namespace()
