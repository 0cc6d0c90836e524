from __future__ import annotations

import pytest

from stacks.core.workspace import Workspace
from stacks.environments.reports import read_report, report_path, workload_reports
from stacks.variants.variant import load_variant


@pytest.mark.parametrize("text", ["", "[]", "{", "\xff"])
def test_an_unreadable_report_counts_as_missing(own_workspace: Workspace, text: str) -> None:
    variant = load_variant(own_workspace, "openblas", "theano-1.0.5")
    assert read_report(own_workspace, variant) is None
    path = report_path(own_workspace, variant)
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="latin-1")
    assert read_report(own_workspace, variant) is None
    path.write_text('{"ok": true}')
    assert read_report(own_workspace, variant) == {"ok": True}


def test_the_folders_of_reports(own_workspace: Workspace) -> None:
    variant = load_variant(own_workspace, "mkl", "theano-1.0.5")
    reports = own_workspace.root / "build/reports/theano-1.0.5"
    assert report_path(own_workspace, variant) == reports / "mkl.json"
    assert workload_reports(own_workspace, variant) == reports / "workloads/mkl"
