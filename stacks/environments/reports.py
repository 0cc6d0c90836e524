"""The last report of each variant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stacks.core.workspace import Workspace
from stacks.variants.variant import Variant


def report_path(workspace: Workspace, variant: Variant) -> Path:
    """Return the path of a variant's last report."""
    return workspace.reports / variant.framework.name / f"{variant.name}.json"


def read_report(workspace: Workspace, variant: Variant) -> dict[str, Any] | None:
    """Return a variant's last report, None if there is none or it cannot be read."""
    try:
        report = json.loads(report_path(workspace, variant).read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None
