"""DOC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stacks.core.disk import BUILD
from stacks.variants.variant import Variant

REPORTS = BUILD / "reports"


def report_path(variant: Variant) -> Path:
    """Return where the last report of a variant lies."""
    return REPORTS / variant.framework.name / f"{variant.name}.json"


def read_report(variant: Variant) -> dict[str, Any] | None:
    """Return the last report of a variant, None where there is none that can be read."""
    try:
        report = json.loads(report_path(variant).read_bytes())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None
