"""The command that puts an environment's files back, as a person types it."""

import importlib
from pathlib import Path

import pytest

repair = importlib.import_module("verify.core.fixes")
EXPECTATION = {"variant": "mkl", "framework": "theano-1.0.5"}


@pytest.mark.parametrize(
    ("beside", "program"), [("invoke", "./invoke"), ("stacks", "theano-stacks")]
)
def test_the_program_is_that_of_the_checkout_or_the_installed_one(
    beside: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / beside).mkdir()
    monkeypatch.setattr(repair.process, "SUITE", str(tmp_path / "verify"))
    options = "--variant mkl --framework theano-1.0.5 --repair"
    assert repair.repair_fix(EXPECTATION) == f"put the files back:\n{program} build {options}"
    words = "build --variant NAME --framework FRAMEWORK --repair"
    assert repair.repair_fix(None) == f"put the files back:\n{program} {words}"


def test_the_builder_knows_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(repair.REPAIR_VARIABLE, "theano-stacks build --variant stack.yaml --repair")
    assert (
        repair.repair_fix(EXPECTATION)
        == "put the files back:\ntheano-stacks build --variant stack.yaml --repair"
    )
