from __future__ import annotations

import json
from typing import Any

import pytest

from stacks.core.errors import StaleError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.care import listing
from stacks.environments.folders import folder_of
from stacks.environments.make import ready
from stacks.variants.load import all_variants, load_variant
from stacks.variants.variant import Variant


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    return own_workspace


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas")


def timing(name: str, median: float) -> dict[str, Any]:
    return {"name": name, "unit": "GFLOP/s", "samples": [median], "median": median}


REPORT = {
    "ok": True,
    "timings": [
        timing("peak float64, 1 thread", 999.0),
        timing("Gemm float64 2000", 100.26),
        timing("Gemm float64 5000", 110.04),
        timing("Gemm float32 2000", 211.0),
        {"name": "check_blas 2000", "unit": "s", "samples": [1.0], "median": 1.0},
    ],
}


def report(workspace: Workspace, variant: Variant, text: str) -> None:
    path = folders.report_path(workspace, variant)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_figures_of_the_last_report(workspace: Workspace, variant: Variant) -> None:
    report(workspace, variant, json.dumps(REPORT))
    verdict, float64, float32 = listing._last_report(
        workspace, variant, folders.read_report(workspace, variant)
    )
    assert verdict.startswith("passed 2")
    assert (float64, float32) == ("110.0", "211.0")


def test_a_figure_of_a_busy_machine_is_not_shown(workspace: Workspace, variant: Variant) -> None:
    checks = [
        {"name": "Gemm float64 speed", "status": "pass", "speed": {"disturbed": True}},
        {"name": "Gemm float32 speed", "status": "pass", "speed": {"disturbed": False}},
        {"name": "Gemm float32 speed", "status": "pass", "detail": "of an older report"},
    ]
    report(workspace, variant, "")
    found = listing._last_report(workspace, variant, {**REPORT, "checks": checks})
    assert found[1:] == ("noisy", "211.0")


def test_no_report(workspace: Workspace, variant: Variant) -> None:
    assert listing._last_report(workspace, variant, None) == ("-", "", "")


def test_a_report_without_figures(workspace: Workspace, variant: Variant) -> None:
    report(workspace, variant, '{"ok": false}')
    verdict, *speeds = listing._last_report(
        workspace, variant, folders.read_report(workspace, variant)
    )
    assert verdict.startswith("FAILED") and speeds == ["", ""]


@pytest.mark.parametrize(
    ("device", "verdict"), [({}, "no device"), ({"device": {"name": "a"}}, "passed")]
)
def test_a_missing_device_is_no_pass(
    workspace: Workspace, device: dict[str, Any], verdict: str
) -> None:
    cuda = load_variant(workspace, "gpuarray-cuda")
    report(workspace, cuda, json.dumps({**REPORT, **device}))
    assert listing._last_report(workspace, cuda, folders.read_report(workspace, cuda))[
        0
    ].startswith(verdict)


def test_what_is_slow_on_this_machine_is_said_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variants = [load_variant(workspace, name) for name in ("mkl", "mkl-amdlibm", "openblas")]
    for variant in variants[:2]:
        report(workspace, variant, json.dumps({**REPORT, "advice": ["MKL is slow here"]}))
    monkeypatch.setattr(ready, "keys_of", lambda workspace, variants: ["key"] * 3)
    monkeypatch.setattr(ready, "key_in", lambda target: "key")
    listing.show(workspace, variants)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "theano-1.0.5/mkl, theano-1.0.5/mkl-amdlibm: MKL is slow here"


def test_a_line_has_80_columns_whatever_the_state(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = all_variants(workspace)
    timings = [timing(f"Gemm {dtype} 5000", 1234.5) for dtype in ("float64", "float32")]
    for variant in every:
        report(workspace, variant, json.dumps({"ok": True, "timings": timings}))
    monkeypatch.setattr(ready, "keys_of", lambda workspace, variants: ["key"] * len(variants))
    monkeypatch.setattr(ready, "key_in", lambda target: "key")
    listing.show(workspace, every)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > len(every) and max(map(len, lines)) <= 80
    assert any("no device 2" in line and line.endswith("  1234.5  1234.5") for line in lines)


@pytest.mark.parametrize(
    ("key", "folder", "state"),
    [("key", True, "yes"), ("another", True, "old"), ("key", False, "no"), (None, False, "stale")],
)
def test_whether_it_is_built(
    key: str | None, folder: bool, state: str, workspace: Workspace, variant: Variant,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if folder:
        folder_of(workspace, variant).mkdir(parents=True)
    monkeypatch.setattr(ready, "key_in", lambda target: "key" if folder else None)
    assert listing._state(workspace, variant, key or StaleError("it")) == state
