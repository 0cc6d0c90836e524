from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.environments.make import pip_install
from stacks.environments.use import kernel
from stacks.locks import release_files
from stacks.sources.pins import Pins, read_pins
from stacks.variants.variant import Variant
from unit.helpers.environments import SITE_PACKAGES


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Give the commands that are run in place of ipykernel and pip."""
    commands: list[list[str]] = []

    def call(words: list[str], **options: Any) -> str:
        commands.append(words)
        return "8.18.1\n"

    def add_beside(workspace: Workspace, prefix: Path, pins: object, target: Path) -> None:
        target.mkdir()
        commands.append(["pip", str(target)])

    monkeypatch.setattr(kernel, "call", call)
    monkeypatch.setattr(pip_install, "add_beside", add_beside)
    return commands


def install(workspace: Workspace, variant: Variant, folder: Path, name: str = "mine") -> Path:
    target = folder / "environment"
    target.mkdir(exist_ok=True)
    pins = read_pins(workspace.sources_lock)
    return kernel.install(workspace, variant, target, pins, name=name, kernels=folder / "kernels")


def test_every_file_is_pinned(workspace: Workspace) -> None:
    pins = read_pins(workspace.sources_lock)
    files = kernel.kernel_files(workspace)
    for names in files.values():
        for name in names:
            pin = pins.file(name)
            assert release_files.release_of(name) == (pin.name, pin.version)
        assert {release_files.release_of(name)[0] for name in names} >= {"ipykernel", "ipython"}


def test_every_framework_has_a_kernel(workspace: Workspace, variant: Variant) -> None:
    pins = read_pins(workspace.sources_lock)
    for python in kernel.kernel_files(workspace):
        framework = variant.framework.model_copy(update={"python": python})
        changed = variant.model_copy(update={"framework": framework})
        assert kernel.pins_of(workspace, changed, pins)
    framework = variant.framework.model_copy(update={"python": "3.7"})
    changed = variant.model_copy(update={"framework": framework})
    with pytest.raises(UsageError, match=r"no ipykernel is locked for Python 3\.7"):
        kernel.pins_of(workspace, changed, Pins())


def test_the_folder_of_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUPYTER_DATA_DIR", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/a")
    assert kernel.kernels_below(Path("/venv")) == Path("/venv/share/jupyter/kernels")
    assert kernel.kernels_below(None) == Path("/home/a/.local/share/jupyter/kernels")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert kernel.kernels_below(None) == Path("/data/jupyter/kernels")
    monkeypatch.setenv("JUPYTER_DATA_DIR", "/own")
    assert kernel.kernels_below(None) == Path("/own/kernels")


def test_a_kernel(
    workspace: Workspace, variant: Variant, tmp_path: Path, started: list[list[str]]
) -> None:
    folder = install(workspace, variant, tmp_path)
    beside = tmp_path / "environment.kernel"
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec == {
        "argv": [
            f"{tmp_path}/environment/bin/python", f"{beside}/start.py", "-f", "{connection_file}"
        ],
        "display_name": "openblas on theano-1.0.5",
        "language": "python",
        "interrupt_mode": "signal",
        "env": {
            "CONDA_PREFIX": f"{tmp_path}/environment",
            "PYTHONNOUSERSITE": "1",
            "PYTHONHOME": "",
            "PYTHONPLATLIBDIR": "",
            "PYTHONEXECUTABLE": "",
        },
        "metadata": {"debugger": True, "theano-stacks": {"variant": "theano-1.0.5/openblas"}},
    }  # fmt: skip
    assert sorted(path.name for path in beside.iterdir()) == ["key", "packages", "start.py"]
    assert started[-1] == [*spec["argv"][:2], "--version"]


def test_a_second_kernel_installs_no_packages_again(
    workspace: Workspace, variant: Variant, tmp_path: Path, started: list[list[str]]
) -> None:
    install(workspace, variant, tmp_path)
    install(workspace, variant, tmp_path, "other")
    assert [words[0] for words in started].count("pip") == 1


def test_a_kernel_for_an_environment_that_another_user_prepared(
    workspace: Workspace,
    variant: Variant,
    tmp_path: Path,
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(workspace, variant, tmp_path)
    monkeypatch.setattr(kernel, "hold_lock", None)
    install(workspace, variant, tmp_path, "other")


def test_the_environments_own_ipykernel(
    workspace: Workspace, variant: Variant, tmp_path: Path, started: list[list[str]]
) -> None:
    own = tmp_path / "environment/lib/python3.9/site-packages/ipykernel"
    own.mkdir(parents=True)
    folder = install(workspace, variant, tmp_path)
    words = json.loads((folder / "kernel.json").read_text())["argv"]
    assert words[1:3] == ["-m", "ipykernel_launcher"]
    assert not (tmp_path / "environment.kernel").exists()


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("flavour", "--clean makes it without what you have added"),
        ("stack", "add ipykernel to `pip:` of the stack.yaml"),
        ("own", "ask for another version of ipykernel"),
    ],
)
def test_a_kernel_that_does_not_start(
    kind: str, fix: str, workspace: Workspace, variant: Variant, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, started: list[list[str]],
) -> None:  # fmt: skip
    def fail(words: list[str], **options: Any) -> str:
        raise CommandError("python start.py --version\nTraceback:\nImportError: no Sentinel")

    monkeypatch.setattr(kernel, "call", fail)
    if kind != "flavour":
        variant = variant.model_copy(update={"file": tmp_path / "stack.yaml"})
    if kind == "own":
        (tmp_path / f"environment/{SITE_PACKAGES}/ipykernel").mkdir(parents=True)
    with pytest.raises(UsageError, match="does not start in the environment of") as caught:
        install(workspace, variant, tmp_path)
    assert caught.value.found == "ImportError: no Sentinel"
    assert caught.value.fix and fix in caught.value.fix
    assert not (tmp_path / "kernels").exists()


@pytest.mark.parametrize("name", ["", "../a", "a b", "é"])
def test_a_name_that_jupyter_refuses(
    name: str, workspace: Workspace, variant: Variant, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="is no name of a kernel"):
        install(workspace, variant, tmp_path, name)


def test_a_kernel_of_another_environment_stays_while_that_is_there(
    workspace: Workspace, variant: Variant, tmp_path: Path, started: list[list[str]]
) -> None:
    folder = install(workspace, variant, tmp_path)
    spec = json.loads((folder / "kernel.json").read_text())
    other = tmp_path / "b/model/stack.build/environment"
    spec["argv"][0] = str(other / "bin/python")
    (other / "bin").mkdir(parents=True)
    (other / "bin/python").touch()
    (folder / "kernel.json").write_text(json.dumps(spec))
    with pytest.raises(UsageError, match=rf"is that of {other}\n  fix: +choose another name"):
        install(workspace, variant, tmp_path)
    (other / "bin/python").unlink()
    assert install(workspace, variant, tmp_path) == folder


def test_a_kernel_of_another_origin_stays(
    workspace: Workspace, variant: Variant, tmp_path: Path, started: list[list[str]]
) -> None:
    other = tmp_path / "kernels/mine/kernel.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"argv": ["julia"], "metadata": {}}')
    with pytest.raises(UsageError, match="is not of theano-stacks"):
        install(workspace, variant, tmp_path)
    assert kernel.installed(tmp_path / "kernels") == {}
    with pytest.raises(UsageError, match="no kernel mine of theano-stacks"):
        kernel.remove("mine", tmp_path / "kernels")
    assert other.is_file()


def test_list_and_remove(
    workspace: Workspace,
    variant: Variant,
    tmp_path: Path,
    started: list[list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    kernels = tmp_path / "kernels"
    kernel.show(kernels)
    assert "no kernel is installed" in capsys.readouterr().out
    install(workspace, variant, tmp_path, "b")
    install(workspace, variant, tmp_path, "a")
    capsys.readouterr()
    kernel.show(kernels)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines[1:]] == [
        ["a", "theano-1.0.5/openblas", "not", "built"],
        ["b", "theano-1.0.5/openblas", "not", "built"],
    ]
    with pytest.raises(UsageError, match="expected: one of a, b"):
        kernel.remove("c", kernels)
    kernel.remove("a", kernels)
    assert list(kernel.installed(kernels)) == ["b"]
