"""The table of `./invoke list`: what is built of each variant, and its last verification."""

import datetime
from collections.abc import Sequence
from typing import Any

from stacks.core.console import print_table
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import folder_of, read_report, report_path
from stacks.locks.lock import lock_folder
from stacks.variants.variant import Variant

# In place of a figure that was measured while other programs used the machine.
NOISY = "noisy"


def show_list(workspace: Workspace, variants: Sequence[Variant]) -> None:
    """Print a line for each variant: lock, environment, last verification, speed."""
    lines = []
    advised: dict[str, list[str]] = {}
    for variant in variants:
        built = _state(workspace, variant)
        report = read_report(workspace, variant) if built == "yes" else None
        last = _last_report(workspace, variant, report)
        lines.append((variant.name, variant.framework.name, built, *last))
        for sentence in (report or {}).get("advice", ()):
            advised.setdefault(sentence, []).append(variant.id)
    print_table(("variant", "framework", "built", "verified"), ("f64", "f32"), lines)
    print("\nbuilt: old, from an earlier lock; stale, its lock is not current; -, no lock")
    print("f64, f32: GFLOP/s of Gemm in float64 and float32 when it was last verified")
    if any(figure == NOISY for line in lines for figure in line[-2:]):
        print(f"{NOISY}: not a figure of the variant, the machine was busy then; verify it again")
    for sentence, advised_variants in advised.items():
        print(f"{', '.join(advised_variants)}: {sentence}")


def _state(workspace: Workspace, variant: Variant) -> str:
    try:
        key = folders.current_key(workspace, variant)
    except StacksError:
        return "stale" if lock_folder(workspace, variant).is_dir() else "-"
    target = folder_of(workspace, variant)
    if folders.key_in(target) == key:
        return "yes"
    return "old" if target.is_dir() else "no"


def _last_report(
    workspace: Workspace, variant: Variant, report: dict[str, Any] | None
) -> tuple[str, str, str]:
    if report is None:
        return "-", "", ""
    date = datetime.datetime.fromtimestamp(report_path(workspace, variant).stat().st_mtime)
    verdict = "passed" if report.get("ok") else "FAILED"
    if verdict == "passed" and variant.device != "cpu" and not report.get("device"):
        verdict = "no device"
    types = "float64", "float32"
    speeds = [NOISY if _is_noisy(report, dtype) else gemm(report, dtype) for dtype in types]
    return f"{verdict} {date:%Y-%m-%d}", speeds[0], speeds[1]


def gemm(report: dict[str, Any], dtype: str) -> str:
    """Return the GFLOP/s of Gemm in a report, for the largest matrices."""
    medians = {
        int(size): timing["median"]
        for timing in report.get("timings", ())
        if (size := timing["name"].removeprefix(f"Gemm {dtype} ")).isdigit()
    }
    return f"{medians[max(medians)]:.1f}" if medians else ""


def _is_noisy(report: dict[str, Any], dtype: str) -> bool:
    """Return whether the speed was measured under noise, so that it is not the variant's."""
    return any(
        check["name"] == f"Gemm {dtype} speed" and check.get("speed", {}).get("disturbed", False)
        for check in report.get("checks", ())
    )
