import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.environments.make import pip_install
from stacks.environments.use import kernel
from stacks.locks import uv
from stacks.sources.pins import Pins, read_pins
from stacks.variants.variant import Variant
from unit.helpers.environments import SITE_PACKAGES


@dataclass
class Room:
    """A folder for an environment and kernelspecs; the commands run in place of those of pip."""

    workspace: Workspace
    variant: Variant
    folder: Path
    commands: list[list[str]] = field(default_factory=list)
    fails: bool = False

    @property
    def kernels(self) -> Path:
        return self.folder / "kernels"

    def call(self, words: list[str], **options: Any) -> str:
        self.commands.append(words)
        if self.fails:
            raise CommandError("python start.py --version\nTraceback:\nImportError: no Sentinel")
        return "8.18.1\n"

    def add_beside(self, workspace: Workspace, prefix: Path, pins: object, target: Path) -> None:
        target.mkdir()
        self.commands.append(["pip", str(target)])

    def install(self, name: str = "mine") -> Path:
        target, pins = self.folder / "environment", read_pins(self.workspace.sources_lock)
        target.mkdir(exist_ok=True)
        words = (self.workspace, self.variant, target, pins)
        return kernel.install(*words, name=name, kernels=self.kernels)

    def spec(self, name: str = "mine") -> dict[str, Any]:
        return dict(json.loads((self.kernels / name / "kernel.json").read_text()))


@pytest.fixture
def room(
    workspace: Workspace, variant: Variant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Room:
    room = Room(workspace, variant, tmp_path)
    monkeypatch.setattr(kernel, "call", room.call)
    monkeypatch.setattr(pip_install, "add_beside", room.add_beside)
    return room


def test_every_framework_has_a_kernel_of_pinned_files(
    workspace: Workspace, variant: Variant
) -> None:
    pins = read_pins(workspace.sources_lock)
    for python, names in kernel.kernel_files(workspace).items():
        framework = variant.framework.model_copy(update={"python": python})
        changed = variant.model_copy(update={"framework": framework})
        found = {(pin.name, pin.version) for pin in kernel.pins_of(workspace, changed, pins)}
        assert found == set(map(uv.release_of, names))
        assert {name for name, _ in found} >= {"ipykernel", "ipython"}
    framework = variant.framework.model_copy(update={"python": "3.7"})
    changed = variant.model_copy(update={"framework": framework})
    with pytest.raises(UsageError, match=r"no ipykernel is locked for Python 3\.7"):
        kernel.pins_of(workspace, changed, Pins())


def test_the_folder_of_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUPYTER_DATA_DIR", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert kernel.kernels_below(Path("/venv")) == Path("/venv/share/jupyter/kernels")
    for variable, value, folder in (
        ("HOME", "/home/a", "/home/a/.local/share/jupyter"),
        ("XDG_DATA_HOME", "/data", "/data/jupyter"),
        ("JUPYTER_DATA_DIR", "/own", "/own"),
    ):
        monkeypatch.setenv(variable, value)
        assert kernel.kernels_below(None) == Path(folder) / "kernels"


def test_a_kernel_and_a_second_one_that_installs_nothing_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.install()
    place = room.folder / "environment"
    assert room.spec() == {
        "argv": [f"{place}/bin/python", f"{place}.kernel/start.py", "-f", "{connection_file}"],
        "display_name": "openblas on theano-1.0.5",
        "language": "python",
        "interrupt_mode": "signal",
        "env": {
            "CONDA_PREFIX": str(place),
            "PYTHONNOUSERSITE": "1",
            "PYTHONHOME": "",
            "PYTHONPLATLIBDIR": "",
            "PYTHONEXECUTABLE": "",
            "__PYVENV_LAUNCHER__": "",
            "_PYTHON_SYSCONFIGDATA_NAME": "_sysconfigdata__linux_x86_64-linux-gnu",
        },
        "metadata": {"debugger": True, "theano-stacks": {"variant": "theano-1.0.5/openblas"}},
    }
    beside = place.with_name("environment.kernel")
    assert sorted(path.name for path in beside.iterdir()) == ["key", "packages", "start.py"]
    assert room.commands[-1] == [*room.spec()["argv"][:2], "--version"]
    # Another user's environment: its lock may not be writable.
    monkeypatch.setattr(kernel, "hold_lock", None)
    room.install("other")
    assert [words[0] for words in room.commands].count("pip") == 1


def test_the_environments_own_ipykernel(room: Room) -> None:
    (room.folder / f"environment/{SITE_PACKAGES}/ipykernel").mkdir(parents=True)
    room.install()
    assert room.spec()["argv"][1:3] == ["-m", "ipykernel_launcher"]
    assert not (room.folder / "environment.kernel").exists()


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("flavour", "--clean makes it without what you have added"),
        ("stack", "add ipykernel to `pip:` of the stack.yaml"),
        ("own", "ask for another version of ipykernel"),
    ],
)
def test_a_kernel_that_does_not_start(kind: str, fix: str, room: Room) -> None:
    room.fails = True
    if kind != "flavour":
        room.variant = room.variant.model_copy(update={"file": room.folder / "stack.yaml"})
    if kind == "own":
        (room.folder / f"environment/{SITE_PACKAGES}/ipykernel").mkdir(parents=True)
    with pytest.raises(UsageError, match="does not start in the environment of") as caught:
        room.install()
    assert caught.value.found == "ImportError: no Sentinel"
    assert caught.value.fix and fix in caught.value.fix
    assert not room.kernels.exists()


@pytest.mark.parametrize("name", ["", "../a", "a b", "é"])
def test_a_name_that_jupyter_refuses(name: str, room: Room) -> None:
    with pytest.raises(UsageError, match="is no name of a kernel"):
        room.install(name)


def test_a_kernel_of_another_environment_stays_while_that_is_there(room: Room) -> None:
    folder = room.install()
    spec, other = room.spec(), room.folder / "b/model/stack.build/environment"
    spec["argv"][0] = str(other / "bin/python")
    (other / "bin/python").mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec))
    with pytest.raises(UsageError, match=rf"is that of {other}\n  fix: +choose another name"):
        room.install()
    (other / "bin/python").rmdir()
    assert room.install() == folder
    # One of another origin stays, whatever it starts.
    (folder / "kernel.json").write_text('{"argv": ["julia"], "metadata": {}}')
    with pytest.raises(UsageError, match="is not of theano-stacks"):
        room.install()
    assert (folder / "kernel.json").is_file()
