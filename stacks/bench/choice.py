"""The flavour for this processor, by the stored results."""

from __future__ import annotations

from stacks.bench import machine, store
from stacks.bench.rows import rows, winners
from stacks.bench.table import number
from stacks.core.workspace import Workspace
from stacks.variants.load import load_variant, on_framework
from stacks.variants.variant import Variant

USUAL = "openblas"
MEASURE = "Gemm float64 2000"
UNKNOWN = "OpenBLAS has kernels for all processors; this one has no result with several flavours"


def recommended(workspace: Workspace, framework: str = "") -> tuple[Variant, str]:
    """Return the flavour to build on a framework, by default the default one, and the reason.

    It is USUAL, unless results/ shows that another one is faster on this processor. Raises
    UsageError for an unknown framework.
    """
    usual = load_variant(workspace, USUAL, framework or None)
    # A result may have a flavour that was removed since.
    known = {variant.id for variant in on_framework(workspace, usual.framework.name)}
    stored = [one.result for one in store.read_all(workspace)[0]]
    for result in sorted(stored, key=lambda one: one.began, reverse=True):
        runs = [run for run in result.runs if run.subject in known]
        of_measure = [measure for measure in winners(runs) if measure.name == MEASURE]
        if not of_measure or not machine.has_processor(result.machine):
            continue
        most = max(of_measure, key=lambda measure: measure.threads)
        figures = {
            row.subject.partition("/")[2]: number(row.summary.median)
            for row in rows(runs, result.subjects)
            if row.measure == most
        }
        if usual.name not in figures:
            continue
        fastest = winners(runs)[most]
        listed = ", ".join(f"{name} {figure}" for name, figure in figures.items())
        reason = f"{MEASURE}, GFLOP/s on this processor ({result.began[:10]}): {listed}"
        if usual.id in fastest:
            return usual, reason
        return load_variant(workspace, fastest[0].partition("/")[2], usual.framework.name), reason
    return usual, UNKNOWN
