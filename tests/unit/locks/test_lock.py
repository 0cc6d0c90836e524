"""Writing a lock, reading it again, and what other programs read in it."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from stacks.channel.candidates import read_channel
from stacks.core.errors import StacksError, StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock, solution
from stacks.locks.lock import Lock, lock_folder, with_other_channels
from stacks.sources.pins import URL, IndexPin, LockedPackage
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

NASTY = 'it\'s "quoted" $HOME `id` : # - \\ {x} [y] %s é'
PIN = IndexPin(name="h5py", version="3.1", filename="h5py-3.1.whl", size=5, sha256="e" * 64)


def package(name: str, version: str = "1.0", depends: tuple[str, ...] = ()) -> LockedPackage:
    url = f"{URL}/linux-64/{name}-{version}-h0_0.conda"
    return LockedPackage(name, version, "h0_0", url, "a" * 64, "b" * 32, 7, depends)


CONTENTS = Lock((package("python"), package("numpy", depends=("python 1.*",))))


@pytest.fixture
def room(own_workspace: Workspace) -> Workspace:
    """Give a checkout with envs/ of its own, without locks."""
    envs = own_workspace.envs.resolve()
    own_workspace.envs.unlink()
    shutil.copytree(envs, own_workspace.envs, ignore=shutil.ignore_patterns("locks"))
    return own_workspace


@pytest.fixture
def mkl(room: Workspace) -> Variant:
    """Give a locked flavour."""
    variant = load_variant(room, "mkl")
    solution.write(room, variant, CONTENTS)
    return variant


def files(workspace: Workspace, variant: Variant) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in lock_folder(workspace, variant).iterdir()}


def stack(workspace: Workspace, folder: Path, more: str = "pip: [h5py]\n") -> Variant:
    folder.mkdir(exist_ok=True)
    (folder / "stack.yaml").write_text(
        f"summary: mine\nextends: openblas\nframework: theano-1.0.5\n{more}"
    )
    return load_variant(workspace, str(folder))


def test_a_lock_is_read_as_it_was_written_and_has_no_summary(room: Workspace, mkl: Variant) -> None:
    found = lock.current(room, mkl)
    assert found.packages == CONTENTS.packages
    assert (found.requirements, found.channel) == ((), URL)
    assert {*found.asked} == {*mkl.conda_specs()}
    assert found.made_by
    nasty = mkl.model_copy(update={"summary": NASTY})
    assert lock.current(room, nasty) == lock.current(room, mkl)
    assert not solution.write(room, nasty, CONTENTS)


def test_what_has_not_changed_is_not_written(
    room: Workspace,
    mkl: Variant,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = files(room, mkl)
    monkeypatch.setattr(solution, "VERSION", "9.9")
    assert not solution.write(room, mkl, CONTENTS)
    assert files(room, mkl) == before
    newer = Lock((package("python"), package("numpy", "2.0"), package("six")))
    assert solution.write(room, mkl, newer)
    assert capsys.readouterr().err.splitlines()[-4:] == [
        "  unchanged theano-1.0.5/mkl",
        "  locked    theano-1.0.5/mkl",
        "            numpy 1.0 -> 2.0",
        "            six 1.0: added",
    ]
    assert lock.current(room, mkl).made_by == "9.9"


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("conda-lock.yml", lambda text: text[: text.index("- name: numpy")]),
        ("conda-lock.yml", lambda text: text + text[text.index("- name: numpy") :]),
        ("sizes.json", lambda text: "{}"),
        ("requirements.txt", lambda text: "six"),
        ("files.json", lambda text: '{"framework": [], "own": []}'),
    ],
)
def test_an_edited_lock_is_refused(
    room: Workspace, mkl: Variant, name: str, edit: Callable[[str], str]
) -> None:
    path = lock_folder(room, mkl) / name
    path.write_text(edit(path.read_text() if path.exists() else ""))
    with pytest.raises(UsageError) as caught:
        lock.read(room, mkl)
    assert caught.value.fix and "./invoke lock" in caught.value.fix


def test_every_changed_byte_is_found(room: Workspace, mkl: Variant) -> None:
    for path in lock_folder(room, mkl).iterdir():
        whole = path.read_bytes()
        for place in range(0, len(whole), 7):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            # To YAML both are the same value.
            if whole[place : place + 5].lower() == b"false":
                continue
            with pytest.raises(StacksError):
                lock.read(room, mkl)
        path.write_bytes(whole)


def test_equal_packages_are_an_equal_lock(room: Workspace, mkl: Variant) -> None:
    found = lock.read(room, mkl)
    assert replace(found, made_by="2", asked=(), specs="").sha256 == found.sha256
    assert replace(found, packages=found.packages[1:]).sha256 != found.sha256


def test_a_stack_whose_flavour_moves_on_keeps_its_lock(room: Workspace, tmp_path: Path) -> None:
    variant = stack(room, tmp_path / "one")
    solution.write(room, variant, replace(CONTENTS, user_files=(PIN,)))
    for name, old, new in (
        ("frameworks/theano-1.0.5", "numpy ==1.21.6", "numpy ==1.22.1"),
        ("variants/openblas", "summary: ", "flags: {optimizer: fast_run}\nsummary: "),
    ):
        path = room.envs / f"{name}.yaml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
    found = lock.current(room, load_variant(room, str(tmp_path / "one")))
    assert found.user_files == (PIN,)


@pytest.mark.parametrize(
    "more",
    [
        "pip: [h5py>3]\n",
        "pip: [h5py]\nflags: {optimizer: fast_run}\n",
        "pip: [h5py]\nenvironment: {A: b}\n",
        "pip: [h5py]\npackages: [mako]\n",
        "pip: [h5py]\nfloatX: float32\n",
    ],
)
def test_an_edited_stack_is_stale(room: Workspace, tmp_path: Path, more: str) -> None:
    variant = stack(room, tmp_path / "one")
    solution.write(room, variant, replace(CONTENTS, user_files=(PIN,)))
    lock.current(room, stack(room, tmp_path / "one"))
    with pytest.raises(StaleError) as caught:
        lock.current(room, stack(room, tmp_path / "one", more))
    assert caught.value.fix and "./invoke lock --variant" in caught.value.fix


def test_the_lock_of_a_stack_does_not_follow_its_folder(room: Workspace, tmp_path: Path) -> None:
    """A clone or a renamed folder has a current lock."""
    found = []
    for name in ("one", "anøther two"):
        variant = stack(room, tmp_path / name)
        solution.write(room, variant, replace(CONTENTS, user_files=(PIN,)))
        found.append(files(room, variant))
    assert found[0] == found[1]
    assert json.loads(found[0]["files.json"])["own"][0]["name"] == "h5py"
    assert (
        f"\nh5py==3.1 \\\n    --hash=sha256:{'e' * 64}\n" in found[0]["requirements.txt"].decode()
    )


def test_conda_reads_the_specs_and_a_name_that_is_text(room: Workspace, tmp_path: Path) -> None:
    for name in ("2024", "on", "null", "model"):
        variant = stack(room, tmp_path).model_copy(update={"file": tmp_path / f"{name}.yaml"})
        solution.write(room, variant, CONTENTS)
        found = yaml.safe_load(files(room, variant)["environment.yml"])
        assert (found["name"], found["dependencies"]) == (name, list(variant.conda_specs()))


@pytest.mark.parametrize(
    ("spec", "message", "fix"),
    [
        ("pymc", "has no pymc", "if pip installs it, write pip: [pymc] instead"),
        ("pymc >=4,<5", "has no pymc", 'if pip installs it, write pip: ["pymc>=4,<5"] instead'),
        ("numpy <1", "cannot satisfy", "change `packages:` in"),
        ("aesara", "aesara beside theano-1.0.5", "change `framework:`, or leave out aesara"),
    ],
)
def test_conda_packages_that_a_stack_cannot_have(
    spec: str, message: str, fix: str, workspace: Workspace, tmp_path: Path
) -> None:
    variant = stack(workspace, tmp_path / "mine", f"packages: ['{spec}']\n")
    with pytest.raises(UsageError) as caught:
        solution.solve(variant, read_channel(workspace))
    assert message in caught.value.what and str(caught.value.fix).startswith(fix)


def test_the_locks_of_other_channels_are_beside_our_own(room: Workspace) -> None:
    variant = load_variant(room, "openblas", "theano-0.8.2")
    folder = lock_folder(room, variant)
    assert with_other_channels(room, [variant]) == (variant,)
    folder.with_name("openblas@conda-forge").mkdir(parents=True)
    folder.with_name("openblas-amdlibm@other").mkdir()
    variants = with_other_channels(room, [variant])
    assert [each.name for each in variants] == ["openblas", "openblas@conda-forge"]
    assert lock_folder(room, variants[1]) == folder.with_name("openblas@conda-forge")
