"""The commands that install what is missing."""

import importlib
from pathlib import Path

import pytest

packages = importlib.import_module("verify.core.packages")


@pytest.mark.parametrize(
    ("programs", "command"),
    [
        (["conda", "apt"], ":\nconda install gxx"),
        (["apt"], ":\napt install g++"),
        (["dnf"], ":\ndnf install gcc-c++"),
        ([], " (Debian, Ubuntu: g++; Fedora: gcc-c++; conda: gxx)"),
    ],
)
def test_the_system_installs_by_its_own_command(
    programs: list[str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in programs:
        (tmp_path / name).touch(0o755)
    (tmp_path / "conda-meta").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(packages.sys, "prefix", str(tmp_path))
    assert packages.system_command("g++", "gcc-c++", "gxx") == command
