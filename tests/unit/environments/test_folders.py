"""Where environments and reports are, and reading reports, those of an older schema too."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import machine
from stacks.bench.candidates import Candidate
from stacks.cluster import job
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments.care import listing
from stacks.environments.folders import folder_of, read_report, report_path, workload_reports
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

# Written by the suite before a check's key for what to do became `fix`: Theano without a BLAS.
SCHEMA_1 = Path(__file__).parent / "report_schema_1.json.gz"


@pytest.fixture
def variant(own_workspace: Workspace) -> Variant:
    return load_variant(own_workspace, "openblas", "theano-1.0.5")


def write(workspace: Workspace, variant: Variant, content: bytes) -> None:
    path = report_path(workspace, variant)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff"])
def test_an_unreadable_report_counts_as_missing(
    own_workspace: Workspace, variant: Variant, content: bytes
) -> None:
    assert read_report(own_workspace, variant) is None
    write(own_workspace, variant, content)
    assert read_report(own_workspace, variant) is None
    report_path(own_workspace, variant).write_text('{"ok": true}')
    assert read_report(own_workspace, variant) == {"ok": True}


def test_the_folders_of_a_variant(own_workspace: Workspace) -> None:
    variant = load_variant(own_workspace, "mkl", "theano-1.0.5")
    reports = own_workspace.root / "build/reports/theano-1.0.5"
    assert report_path(own_workspace, variant) == reports / "mkl.json"
    assert workload_reports(own_workspace, variant) == reports / "workloads/mkl"
    assert folder_of(own_workspace, variant) == own_workspace.build / "prefixes/theano-1.0.5/mkl"


@pytest.fixture
def old(own_workspace: Workspace, variant: Variant) -> dict[str, Any]:
    """Give a report of schema 1, read from where reports are."""
    write(own_workspace, variant, gzip.decompress(SCHEMA_1.read_bytes()))
    report = read_report(own_workspace, variant)
    assert report is not None
    return report


def test_a_report_of_schema_1_has_another_key_than_fix(old: dict[str, Any]) -> None:
    schema = json.loads((REPOSITORY / "verify/report.schema.json").read_text())
    assert old["schema"] == 1 < schema["properties"]["schema"]["const"]
    assert not any("fix" in check for check in old["checks"])


def test_list_shows_a_report_of_schema_1(
    old: dict[str, Any], own_workspace: Workspace, variant: Variant
) -> None:
    verdict, float64, float32 = listing._last_report(own_workspace, variant, old)
    assert verdict.startswith("FAILED 2")
    assert (float64, float32) == ("19.6", "39.6")


def test_bench_takes_the_machine_and_the_verdict_of_a_report_of_schema_1(
    old: dict[str, Any], variant: Variant, tmp_path: Path
) -> None:
    assert machine.describe([old]).name == "amd-epyc-2-cores"
    assert isinstance(machine.is_here(old), bool)
    candidate = Candidate(variant, tmp_path, None, old)  # type: ignore[arg-type]
    assert not candidate.verified


def test_a_worker_names_the_failed_checks_of_a_report_of_schema_1(
    old: dict[str, Any], variant: Variant
) -> None:
    error = job._failed_checks(variant, old)
    assert error.found and "blas.ldflags: empty" in error.found
    assert error.fix is None
