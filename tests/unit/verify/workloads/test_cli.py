"""The command line of the workloads."""

import io
import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

cli = suite_module("workloads.cli")


@pytest.mark.parametrize(
    ("argv", "calls", "profile_calls"),
    [
        (["ntm"], 100, 100),
        (["check_blas"], 10, 10),
        (["lstm", "--calls", "3"], 3, 3),
        (["lstm", "--calls", "3", "--profile-calls", "0"], 3, 0),
    ],
)
def test_defaults_of_the_calls(argv: list[str], calls: int, profile_calls: int) -> None:
    arguments = cli.parse(argv)
    assert (arguments.calls, arguments.profile_calls) == (calls, profile_calls)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["unknown"],
        ["ntm", "--show", "x.json"],
        ["ntm", "--calls", "0"],
        ["ntm", "--profile-calls", "-1"],
        ["ntm", "--dtype", "float16"],
    ],
)
def test_invalid_arguments_have_status_2(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.parse(argv)
    assert caught.value.code == 2


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Give the framework of an environment without a device and without theano_stacks."""
    framework = SimpleNamespace(on_device=False, flag={"device": "cpu"}.get)
    monkeypatch.setattr(cli.frameworks, "load", lambda name: framework)
    monkeypatch.setattr(cli, "_start", lambda *_: 0)
    monkeypatch.setattr(cli.frameworks, "is_installed", lambda module: False)
    monkeypatch.setattr(cli.device_check, "requested", lambda *_: None)
    monkeypatch.setenv("THEANO_STACKS_MODULES", "0")
    return framework


def test_a_missing_device_has_status_3_and_another_one_status_2(
    environment: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def check(context: Any) -> Any:
        context.device = device
        return SimpleNamespace(detail="no driver")

    monkeypatch.setattr(cli.device_check, "requested", lambda *_: "cuda")
    monkeypatch.setattr(cli.device_check, "check", check)
    device = None
    assert cli.main(["ntm"]) == 3
    assert "no driver" in capsys.readouterr().err
    device = {"name": "a device"}
    assert cli.main(["ntm"]) == 2
    assert "Theano opened cpu instead of cuda" in capsys.readouterr().err
    environment.on_device, environment.flag = True, {"device": "cuda"}.get
    assert cli.main(["ntm"]) == 0


class Run:
    """A workload with one case."""

    def compiled(self) -> list[dict[str, str]]:
        return [{"name": "step"}]

    def call(self, calls: int) -> dict[str, list[float]]:
        return {"step": [0.5] * calls}


def test_a_response_to_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.BytesIO()
    monkeypatch.setattr(cli, "take_stdout", lambda: output)
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"calls": 2}\n{"calls": 1}\n'))
    cli.serve(Run())
    responses: list[Any] = [json.loads(line) for line in output.getvalue().splitlines()]
    assert responses == [
        {"ready": [{"name": "step"}]},
        {"seconds": {"step": [0.5, 0.5]}},
        {"seconds": {"step": [0.5]}},
    ]
