from __future__ import annotations

from typing import Any

import pytest
from invoke.exceptions import Exit

from stacks.tasks import timing


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("profile", {"variant": "mkl", "memory": True}, "--memory profiles a program after --"),
        ("compare", {"before": "a", "after": "b", "rounds": 5}, "--rounds times a program after"),
    ],
)
def test_options_that_would_be_ignored(
    task: str, options: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exit):
        getattr(timing, task).body(None, **options)
    assert f"error: {message}" in capsys.readouterr().err


def test_a_workload_and_a_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(timing, "remainder", lambda: ["python", "train.py"])
    with pytest.raises(Exit):
        timing.compare.body(None, "pip-default", "mkl", case="a")
    assert "error: an option of workloads, and a program" in capsys.readouterr().err


def test_names_of_variants_are_stripped(monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[list[str]] = []
    monkeypatch.setattr(timing, "remainder", lambda: ["python", "train.py"])

    def choose(workspace: object, names: list[str], framework: str) -> list[str]:
        named.append(list(names))
        return []

    monkeypatch.setattr("stacks.bench.user_program_rounds.choose_candidates", choose)
    monkeypatch.setattr("stacks.bench.user_program_rounds.bench", lambda *_, **__: None)
    timing.bench.body(None, variants=" pip-default, mkl,,mkl")
    assert named == [["pip-default", "mkl"]]
