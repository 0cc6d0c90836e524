from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core import reproducible


def test_the_environment_has_nothing_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFLAGS", "-O3")
    variables = reproducible.environment(tmp_path, PATH="/other", MORE="1")
    assert "CFLAGS" not in variables
    assert (variables["PATH"], variables["MORE"]) == ("/other", "1")
    assert variables["HOME"] == variables["TMPDIR"] == str(tmp_path)
    assert reproducible.CREATED.isoformat() == "2024-01-01T00:00:00+00:00"
    assert variables["SOURCE_DATE_EPOCH"] == str(reproducible.EPOCH) == "1704067200"
