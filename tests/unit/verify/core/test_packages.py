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


@pytest.mark.parametrize(
    ("module", "version", "variant"),
    [
        ("theano", "1.1.2", "openblas"),
        ("theano", "0.8.2", "theano-0.8.2/openblas"),
        ("aesara", "2.9.3", "aesara-2.8.7/openblas"),
        ("pytensor", "2.30.0", "pytensor-2.38.3/openblas"),
        ("pytensor", "3.4.0", "pytensor-3.3.7/openblas"),
        ("numpy", "2.4", "openblas"),
    ],
)
def test_who_is_not_root_gets_a_compiler_with_an_environment(
    module: str, version: str, variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apt").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(packages.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(packages.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    python = "python{}.{}-dev".format(*packages.sys.version_info)
    lines = packages.compiler_command(module, version).splitlines()
    assert lines[1] == f"apt install g++ {python}"
    assert lines[3] == f"./invoke build --variant {variant}"
    (tmp_path / "Python.h").touch()
    # The suite came without the builder, as in blas-verify.pyz.
    monkeypatch.setattr(packages.process, "SUITE", str(tmp_path / "verify"))
    assert packages.compiler_command(module, version) == ":\napt install g++"
