"""Noise: what else the machine does during a timing. An image reads it by the same module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stacks.bench.result import Noise
from stacks.core.cores import PROC, text_of
from verify.core import machine as suite_noise

# Larger noise is a remark: cores, share of the cores, share of the highest clock.
OTHERS = 0.10
STEAL = 0.01
FREQUENCY = 0.90

Reading = Mapping[str, Any]


def read(living: float = 0.0) -> Reading:
    """Return the machine's counters now.

    living: processor seconds of our processes that still run; the system counts them as ours only
    after their end.
    """
    reading: Reading = suite_noise.counters(living)
    return reading


def between(before: Reading, after: Reading, cores: int) -> Noise:
    """Return the noise between two readings, on so many usable cores."""
    return Noise.model_validate(suite_noise.noise_between(before, after, cores))


def processor_seconds(process: int) -> float:
    """Return the processor time of a process so far, without its children; 0 if it is gone."""
    # proc(5): utime, stime. The second field, a name in brackets, may have spaces.
    fields = text_of(PROC / str(process) / "stat").rpartition(")")[2].split()
    return float(sum(map(int, fields[11:13])) / suite_noise.TICKS)


def remarks(noises: Sequence[Noise]) -> list[str]:
    """Return a sentence for each kind of noise that the timings may have suffered from."""
    sentences = []
    noisy = [noise.others for noise in noises if noise.others > OTHERS]
    if noisy:
        sentences.append(
            f"other programs were busy in {len(noisy)} of {len(noises)} measurements, on up to "
            f"{max(noisy):.1f} cores"
        )
    stolen = [noise.steal for noise in noises if noise.steal > STEAL]
    if stolen:
        sentences.append(
            f"the host took processor time away in {len(stolen)} of {len(noises)} measurements, up "
            f"to {max(stolen):.0%}"
        )
    throttled = sum(noise.throttled for noise in noises)
    if throttled:
        sentences.append(f"the container's CPU limit stopped it for {throttled:.1f} s")
    clocks = [noise.frequency for noise in noises if noise.frequency]
    if clocks and min(clocks) < FREQUENCY * max(clocks):
        sentences.append(f"the cores' clock went from {min(clocks):.0f} to {max(clocks):.0f} MHz")
    return sentences
