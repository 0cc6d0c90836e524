from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stacks.core.workspace import Workspace
from stacks.environments import clean as cleaning
from stacks.environments import listing, prefix, reports
from stacks.environments import reports as environments_reports
from stacks.profiles import run as profile_runs
from stacks.variants.variant import Variant, load_variant


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas")


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (reports, profile_runs):
        monkeypatch.setattr(module, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(listing, "BUILD", tmp_path)
    monkeypatch.setattr(prefix, "PREFIXES", tmp_path / "prefixes")
    return tmp_path


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
    path = reports.report_path(workspace, variant)
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_the_figures_of_the_last_report(
    workspace: Workspace, variant: Variant, build: Path
) -> None:
    report(workspace, variant, json.dumps(REPORT))
    verdict, float64, float32 = listing._last_report(
        workspace, variant, reports.read_report(workspace, variant)
    )
    assert verdict.startswith("passed 2")
    assert (float64, float32) == ("110.0", "211.0")


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff"])
def test_a_report_that_is_none(
    workspace: Workspace, text: str, variant: Variant, build: Path
) -> None:
    report(workspace, variant, text)
    assert listing._last_report(workspace, variant, reports.read_report(workspace, variant)) == (
        "-",
        "",
        "",
    )


def test_a_report_without_figures(workspace: Workspace, variant: Variant, build: Path) -> None:
    report(workspace, variant, '{"ok": false}')
    verdict, *speeds = listing._last_report(
        workspace, variant, reports.read_report(workspace, variant)
    )
    assert verdict.startswith("FAILED") and speeds == ["", ""]


@pytest.mark.parametrize(
    ("device", "verdict"), [({}, "no device"), ({"device": {"name": "a"}}, "passed")]
)
def test_a_device_that_was_not_there_is_no_pass(
    workspace: Workspace, build: Path, device: dict[str, Any], verdict: str
) -> None:
    cuda = load_variant(workspace, "gpuarray-cuda")
    report(workspace, cuda, json.dumps({**REPORT, **device}))
    assert listing._last_report(workspace, cuda, reports.read_report(workspace, cuda))[
        0
    ].startswith(verdict)


def test_a_clean_of_one_variant_leaves_the_others(
    workspace: Workspace, variant: Variant, build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("openblas", "pip-default"):
        (build / "prefixes/theano-1.0.5" / name).mkdir(parents=True)
    report(workspace, variant, "{}")
    environments_reports.workload_reports(workspace, variant).mkdir(parents=True)
    cleaning.clean(workspace, [variant], cache=False)
    assert [p.name for p in (build / "prefixes/theano-1.0.5").iterdir()] == ["pip-default"]
    assert capsys.readouterr().out.splitlines() == [
        f"removing {build}/prefixes/theano-1.0.5/openblas",
        f"removing {build}/reports/theano-1.0.5/openblas.json",
        f"removing {build}/reports/theano-1.0.5/workloads/openblas",
    ]


def test_a_clean_of_all_follows_a_link_that_a_person_made(
    workspace: Workspace, build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "big/prefixes/x").mkdir(parents=True)
    (tmp_path / "link").symlink_to("big")
    monkeypatch.setattr(listing, "BUILD", tmp_path / "link")
    cleaning.clean(workspace, None, cache=False)
    assert not list((tmp_path / "big").iterdir())


def test_a_clean_of_the_cache_leaves_what_is_not_its_own(
    workspace: Workspace, room: Path, build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("bases", "sources", "packages", "modules", "mine"):
        (room / "cache" / name).mkdir(parents=True)
    cleaning.clean(workspace, [], cache=True)
    assert [path.name for path in (room / "cache").iterdir()] == ["mine"]


def test_nothing_to_clean(
    workspace: Workspace, room: Path, build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaning.clean(workspace, [], cache=True)
    assert capsys.readouterr().out == "nothing to remove\n"
