from __future__ import annotations

from pathlib import Path

import invoke.exceptions
import pytest
from invoke.context import Context

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.project import alive
from stacks.tasks import channel

STACK = str(REPOSITORY / "examples/notebook/stack.yaml")


@pytest.fixture(autouse=True)
def _own_workspace(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("stacks.tasks.channel", "stacks.tasks.task"):
        monkeypatch.setattr(f"{module}.default_workspace", lambda: own_workspace)


def test_alive_takes_a_file_for_its_report(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = []
    monkeypatch.setattr(alive, "report", lambda workspace, path: paths.append((workspace, path)))
    channel.pin.body(Context(), alive=True, json=str(tmp_path / "a.json"))
    channel.pin.body(Context(), alive=True)
    assert paths == [(own_workspace, tmp_path / "a.json"), (own_workspace, None)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alive": True, "check": True}, "--alive pins nothing: it goes with --json only"),
        ({"alive": True, "expired": "sid"}, "--alive pins nothing: it goes with --json only"),
        ({"json": "a.json"}, "--json goes with --alive only"),
    ],
)
def test_options_that_do_not_go_together(
    options: dict[str, bool | str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(invoke.exceptions.Exit) as caught:
        channel.pin.body(Context(), **options)
    assert caught.value.code == 2
    assert f"error: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"variant": "mkl@conda-forge"},
            "mkl@conda-forge has the packages of another channel\n"
            "  fix:      ./invoke lock --variant mkl --channel <its name or address>",
        ),
        (
            {"variant": "mkl@conda-forge", "framework": "pytensor-3.3.7"},
            "mkl@conda-forge has the packages of another channel\n  fix:      ./invoke lock "
            "--variant mkl --framework pytensor-3.3.7 --channel <its name or address>",
        ),
        ({"check": True, "variant": STACK, "upgrade": True}, "--check writes nothing"),
    ],
)
def test_a_lock_that_is_not_meant(
    options: dict[str, bool | str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(invoke.exceptions.Exit) as caught:
        channel.lock.body(Context(), **options)
    assert caught.value.code == 2
    assert f"error: {message}" in capsys.readouterr().err
