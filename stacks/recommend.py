"""Which built variant is the fastest on this machine: measured turn by turn, and verified."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from stacks import channel as channels
from stacks import lock, prefix
from stacks.command import call
from stacks.disk import REPOSITORY
from stacks.errors import StacksError, UsageError
from stacks.variant import Variant
from stacks.verification import environment, read_report

PROBE = REPOSITORY / "verify" / "recommend_probe.py"
DTYPES = ("float64", "float32")
ROUNDS = 7
# A verified variant that is not this much faster than the baseline deserves a word.
WORTH = 2.0


@dataclass(frozen=True)
class Candidate:
    """A variant whose environment stands, and whether its last verification passed."""

    variant: Variant
    place: Path
    verified: bool


@dataclass(frozen=True)
class Finding:
    """What the rounds say of one precision: the fastest, or those that cannot be told apart."""

    fastest: tuple[str, ...]
    warnings: tuple[str, ...]


def candidates(variants: Sequence[Variant]) -> list[Candidate]:
    """Return the variants that are built from their present locks, and compute on the host."""
    channel = channels.read_channel()
    found = []
    for variant in variants:
        if variant.device != "cpu":
            continue
        place = prefix.place_of(variant)
        try:
            locked = lock.check(variant, channel)
        except StacksError:
            continue
        if prefix.is_ready(variant, locked, place):
            report = read_report(variant) or {}
            found.append(Candidate(variant, place, bool(report.get("ok"))))
    return found


def measure(chosen: Sequence[Candidate], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return {dtype: {variant: GFLOP/s of each round}}; every round measures each variant once.

    The order turns with each round, so that no variant is always first on a cool machine.
    """
    rates: dict[str, dict[str, list[float]]] = {
        dtype: {c.variant.name: [] for c in chosen} for dtype in DTYPES
    }
    # The first run of each compiles; it is not counted.
    for number in range(rounds + 1):
        print(f"round {number} of {rounds} ...", file=sys.stderr, flush=True)
        turn = number % len(chosen)
        for candidate in [*chosen[turn:], *chosen[:turn]]:
            for dtype in DTYPES:
                module = candidate.variant.framework.module
                words: list[str | Path] = [candidate.place / "bin/python", PROBE, module, dtype]
                said = call(words, env=environment(candidate.place))
                if number:
                    rates[dtype][candidate.variant.name].append(float(said.split()[-1]))
    return rates


def judge(
    rates: Mapping[str, Sequence[float]], allowed: Sequence[str], baseline: str | None
) -> Finding:
    """Name the fastest of the allowed variants, or all that the noise does not tell from it.

    Two are told apart when one is the faster in all but one of the rounds (of seven: a chance of
    1 in 16 for equals). A warning for each that is under twice the baseline.
    """
    ordered = sorted(allowed, key=lambda name: statistics.median(rates[name]), reverse=True)
    fastest = [
        name
        for name in ordered
        if name == ordered[0] or not _faster(rates[ordered[0]], rates[name])
    ]
    warnings = []
    for name in ordered if baseline in rates else ():
        ratio = statistics.median(
            a / b for a, b in zip(rates[name], rates[str(baseline)], strict=True)
        )
        if name != baseline and ratio < WORTH:
            warnings.append(f"{name} is only {ratio:.2f} times as fast as {baseline}")
    return Finding(tuple(fastest), tuple(warnings))


def _faster(left: Sequence[float], right: Sequence[float]) -> bool:
    wins = sum(a > b for a, b in zip(left, right, strict=True))
    return wins >= max(len(left) - 1, 1)


def recommend(variants: Sequence[Variant], rounds: int = ROUNDS) -> None:
    """Measure the built variants of one framework and print which is the fastest that verifies.

    Raises UsageError where fewer than two of them are built and verified.
    """
    if rounds < 3:
        raise UsageError("too few rounds to tell noise from speed", expected="at least 3")
    chosen = candidates(variants)
    allowed = [c.variant.name for c in chosen if c.verified and not c.variant.baseline]
    if not allowed or len(chosen) < 2:
        raise UsageError(
            "nothing to choose from: fewer than two variants are built and verified",
            found=", ".join(c.variant.name for c in chosen) or "none",
            mend="./invoke build --variant NAME for each that may be meant: see ./invoke list",
        )
    baseline = next((c.variant.name for c in chosen if c.variant.baseline), None)
    rates = measure(chosen, rounds)
    findings = {dtype: judge(rates[dtype], allowed, baseline) for dtype in DTYPES}
    _show(chosen, rates, baseline)
    for dtype, finding in findings.items():
        for warning in finding.warnings:
            print(f"warning: {dtype}: {warning}", file=sys.stderr)
        print(_sentence(dtype, finding, rates[dtype]))


def _sentence(dtype: str, finding: Finding, rates: Mapping[str, Sequence[float]]) -> str:
    names = finding.fastest
    if len(names) > 1:
        return (
            f"{dtype}: no one is the fastest: {', '.join(names)} differ by no more than the noise"
        )
    rate = statistics.median(rates[names[0]])
    return f"{dtype}: {names[0]} is the fastest that verifies, {rate:.1f} GFLOP/s"


def _show(
    chosen: Sequence[Candidate],
    rates: Mapping[str, Mapping[str, Sequence[float]]],
    baseline: str | None,
) -> None:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("variant", "verified"):
        table.add_column(name)
    for dtype in DTYPES:
        table.add_column(f"{dtype} GFLOP/s", justify="right")
        table.add_column("from - to", justify="right")
    for candidate in chosen:
        row = [candidate.variant.name, "yes" if candidate.verified else "no"]
        if candidate.variant.name == baseline:
            row[1] += ", baseline"
        for dtype in DTYPES:
            found = rates[dtype][candidate.variant.name]
            row += [f"{statistics.median(found):.1f}", f"{min(found):.1f} - {max(found):.1f}"]
        table.add_row(*row)
    Console(highlight=False, soft_wrap=True).print(table)
