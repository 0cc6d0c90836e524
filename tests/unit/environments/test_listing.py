from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stacks.core.workspace import Workspace
from stacks.environments import clean as cleaning
from stacks.environments import listing, reports
from stacks.profiles import run as profile_runs
from stacks.variants.variant import Variant, load_variant


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
    path = reports.report_path(workspace, variant)
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_the_figures_of_the_last_report(workspace: Workspace, variant: Variant) -> None:
    report(workspace, variant, json.dumps(REPORT))
    verdict, float64, float32 = listing._last_report(
        workspace, variant, reports.read_report(workspace, variant)
    )
    assert verdict.startswith("passed 2")
    assert (float64, float32) == ("110.0", "211.0")


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff"])
def test_a_report_that_is_none(workspace: Workspace, text: str, variant: Variant) -> None:
    report(workspace, variant, text)
    assert listing._last_report(workspace, variant, reports.read_report(workspace, variant)) == (
        "-",
        "",
        "",
    )


def test_a_report_without_figures(workspace: Workspace, variant: Variant) -> None:
    report(workspace, variant, '{"ok": false}')
    verdict, *speeds = listing._last_report(
        workspace, variant, reports.read_report(workspace, variant)
    )
    assert verdict.startswith("FAILED") and speeds == ["", ""]


@pytest.mark.parametrize(
    ("device", "verdict"), [({}, "no device"), ({"device": {"name": "a"}}, "passed")]
)
def test_a_device_that_was_not_there_is_no_pass(
    workspace: Workspace, device: dict[str, Any], verdict: str
) -> None:
    cuda = load_variant(workspace, "gpuarray-cuda")
    report(workspace, cuda, json.dumps({**REPORT, **device}))
    assert listing._last_report(workspace, cuda, reports.read_report(workspace, cuda))[
        0
    ].startswith(verdict)


def test_a_clean_of_one_variant_leaves_the_others(
    workspace: Workspace, variant: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("openblas", "pip-default"):
        (workspace.environments / "theano-1.0.5" / name).mkdir(parents=True)
    report(workspace, variant, "{}")
    profile_runs.reports_of(workspace, variant).mkdir(parents=True)
    cleaning.clean(workspace, [variant], cache=False)
    assert [p.name for p in (workspace.environments / "theano-1.0.5").iterdir()] == ["pip-default"]
    assert capsys.readouterr().out.splitlines() == [
        f"removing {workspace.build}/prefixes/theano-1.0.5/openblas",
        f"removing {workspace.build}/reports/theano-1.0.5/openblas.json",
        f"removing {workspace.build}/reports/theano-1.0.5/workloads/openblas",
    ]


def test_a_clean_of_all_follows_a_link_that_a_person_made(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "big/prefixes/x").mkdir(parents=True)
    workspace.build.symlink_to(tmp_path / "big")
    cleaning.clean(workspace, None, cache=False)
    assert not list((tmp_path / "big").iterdir())


def test_a_clean_of_the_cache_leaves_what_is_not_its_own(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("bases", "sources", "packages", "modules", "mine"):
        (workspace.cache / name).mkdir(parents=True)
    cleaning.clean(workspace, [], cache=True)
    assert [path.name for path in workspace.cache.iterdir()] == ["mine"]


def test_nothing_to_clean(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    cleaning.clean(workspace, [], cache=True)
    assert capsys.readouterr().out == "nothing to remove\n"
