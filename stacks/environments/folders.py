"""Where a variant's environment and reports are, and reading a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stacks.core import jsonfile
from stacks.core.workspace import Workspace
from stacks.variants import stack
from stacks.variants.variant import Variant

# The file of an environment that says that it is ready, and has the hash of what it is made from.
READY = "etc/theano-stacks/ready.json"


def folder_of(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's environment."""
    if variant.file:
        return folder_of_stack(variant.file)
    return workspace.environments / variant.framework.name / variant.name


def folder_of_stack(file: Path) -> Path:
    """Return the folder of a stack.yaml's environment."""
    return stack.build_folder(file) / "environment"


def report_path(workspace: Workspace, variant: Variant) -> Path:
    """Return the path of a variant's last report."""
    if variant.file:
        return stack.build_folder(variant.file) / "report.json"
    return workspace.reports / variant.framework.name / f"{variant.name}.json"


def read_report(workspace: Workspace, variant: Variant) -> dict[str, Any] | None:
    """Return the last report of a variant, or None if there is none that can be read.

    It may be of schema 1, whose checks have another key in place of `fix`.
    """
    try:
        report = jsonfile.read(report_path(workspace, variant))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def workload_reports(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's reports of workloads."""
    if variant.file:
        return stack.build_folder(variant.file) / "workloads"
    return workspace.reports / variant.framework.name / "workloads" / variant.name
