"""The flavour for this processor, by the stored results."""

from __future__ import annotations

from collections.abc import Sequence

from stacks.bench import machine, store
from stacks.bench.result import Result
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

    It is USUAL, unless results/ shows that another one is faster on this processor, and not slower
    in any measure beside busy loops, where these were timed. Raises UsageError for an unknown
    framework.
    """
    usual = load_variant(workspace, USUAL, framework or None)
    # A result may have a flavour that was removed since, or one for a device.
    ours = on_framework(workspace, usual.framework.name)
    known = {variant.id for variant in ours if variant.device == "cpu"}
    stored = [one.result for one in store.read_all(workspace)[0]]
    here = [result for result in stored if machine.has_processor(result.machine)]
    here.sort(key=lambda result: result.began, reverse=True)
    for result in here:
        runs = [run for run in result.runs if run.subject in known]
        # Not the name alone, so that no figure beside busy loops counts as an idle one.
        of_measure = [measure for measure in winners(runs) if measure.label == MEASURE]
        if not of_measure:
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
        slower = {name: _slower_when_busy(here, name, usual.id) for name in fastest}
        for name, measures in slower.items():
            if not measures:
                return load_variant(workspace, name.partition("/")[2], usual.framework.name), reason
        measures = slower[fastest[0]]
        flavour = fastest[0].partition("/")[2]
        return usual, f"{reason}; but {usual.name} is faster than {flavour} in {measures}"
    return usual, UNKNOWN


def _slower_when_busy(results: Sequence[Result], name: str, usual: str) -> str:
    """Return the measures beside busy loops in which a variant is clearly slower than the usual.

    results: the newest first; the first that has both variants counts.
    """
    for result in results:
        pair = [run for run in result.runs if run.busy and run.subject in (name, usual)]
        if fastest := winners(pair):
            return "; ".join(each.title for each, names in fastest.items() if name not in names)
    return ""
