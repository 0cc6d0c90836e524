"""The table of `./invoke list`, from locks, environments and reports on disk."""

import json
from typing import Any

import pytest

from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.care import listing
from stacks.variants.load import all_variants, load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import mark_built


def report(**medians: float) -> dict[str, Any]:
    names = {name: name.replace("_", " ") for name in medians}
    return {"ok": True, "timings": [{"name": names[n], "median": m} for n, m in medians.items()]}


REPORT = report(
    peak_float64=999.0,
    Gemm_float64_2000=100.26,
    Gemm_float64_5000=110.04,
    Gemm_float32_2000=211.0,
    check_blas_2000=1.0,
)
BUSY = [
    {"name": "Gemm float64 speed", "status": "pass", "speed": {"disturbed": True}},
    {"name": "Gemm float32 speed", "status": "pass", "speed": {"disturbed": False}},
    {"name": "Gemm float32 speed", "status": "pass", "detail": "of an older report"},
]


def verified(own_workspace: Workspace, variant: Variant, report: object) -> None:
    mark_built(own_workspace, variant)
    path = folders.report_path(own_workspace, variant)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report))


def shown(
    own_workspace: Workspace, capsys: pytest.CaptureFixture[str], *variants: Variant
) -> list[str]:
    listing.show_list(own_workspace, variants)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("name", "report", "verdict", "figures"),
    [
        ("openblas", REPORT, "passed 2", ["110.0", "211.0"]),
        ("openblas", {**REPORT, "checks": BUSY}, "passed 2", ["noisy", "211.0"]),
        ("openblas", {"ok": False}, "FAILED 2", []),
        ("gpuarray-cuda", REPORT, "no device 2", ["110.0", "211.0"]),
        ("gpuarray-cuda", {**REPORT, "device": {"name": "a"}}, "passed 2", ["110.0", "211.0"]),
    ],
)
def test_the_last_report(
    name: str,
    report: object,
    verdict: str,
    figures: list[str],
    own_workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
) -> None:
    variant = load_variant(own_workspace, name)
    verified(own_workspace, variant, report)
    lines = shown(own_workspace, capsys, variant)
    assert f" yes    {verdict}" in lines[1]
    date = lines[1].split(verdict)[1].split()
    assert date[1:] == figures
    assert ("noisy: not a figure" in lines[-1]) == ("noisy" in figures)


@pytest.mark.parametrize("state", ["yes", "old", "no", "stale", "-"])
def test_whether_it_is_built(
    state: str, own_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    variant = load_variant(own_workspace, "openblas")
    if state in ("yes", "old"):
        mark_built(own_workspace, variant, key="of an earlier lock" if state == "old" else "")
    elif state == "stale":
        variant = variant.model_copy(update={"flags": {"optimizer": "fast_run"}})
    elif state == "-":
        variant = variant.model_copy(update={"name": "unlocked"})
    line = shown(own_workspace, capsys, variant)[1]
    assert line.split()[2:] == [state, "-"]


def test_what_is_slow_on_this_machine_is_said_once(
    own_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = [load_variant(own_workspace, name) for name in ("mkl", "mkl-amdlibm", "openblas")]
    for variant in variants[:2]:
        verified(own_workspace, variant, {**REPORT, "advice": ["MKL is slow here"]})
    last = shown(own_workspace, capsys, *variants)[-1]
    assert last == "theano-1.0.5/mkl, theano-1.0.5/mkl-amdlibm: MKL is slow here"


def test_a_line_has_80_columns_whatever_the_state(
    own_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    every = all_variants(own_workspace)
    for variant in every:
        found = report(Gemm_float64_5000=1234.5, Gemm_float32_5000=1234.5)
        verified(own_workspace, variant, found)
    lines = shown(own_workspace, capsys, *every)
    assert len(lines) > len(every) and max(map(len, lines)) <= 80
    assert any("no device 2" in line and line.endswith("  1234.5  1234.5") for line in lines)
