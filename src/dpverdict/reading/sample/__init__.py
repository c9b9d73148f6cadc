"""The sampling reading: n runs of a program as arrays."""

from __future__ import annotations

from dpverdict.reading.sample.blocks import sample_blocks
from dpverdict.reading.sample.outputs import Batch, Coded, Column, Outputs, decode, outcome_groups, tally
from dpverdict.reading.sample.split import Sampler

__all__ = ["Batch", "Coded", "Column", "Outputs", "Sampler", "decode", "outcome_groups", "sample_blocks", "tally"]
