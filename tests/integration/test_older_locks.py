"""Locks that earlier versions made: with their packages they build, without them an error says why.

data/older_locks has the examples' locks as they were before packages were named after their data.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conda_package_handling import api as conda_packages

from integration.published import write_packages
from integration.tiny import DEAD, Tiny, tree
from stacks.channel import package
from stacks.core.disk import sha256_of
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.distribution.vendor import vendor
from stacks.environments.folders import folder_of
from stacks.environments.make import build
from stacks.locks import lock
from stacks.locks.lock import lock_folder
from stacks.locks.update import check_locks, digests_of
from stacks.sources.conda_archive import read_archive
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

OLDER = Path(__file__).with_name("data") / "older_locks"
FOLDERS = sorted(OLDER.iterdir())
VARIABLES = ("THEANO_STACKS_VENDOR", "THEANO_STACKS_CHANNEL")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_older_lock_belongs_to_its_stack(folder: Path, workspace: Workspace) -> None:
    variant = load_variant(workspace, str(folder))
    found = lock.current(workspace, variant)
    assert not found.made_by and found.own_files and len(found.packages) > 10
    check_locks(workspace, [variant])


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_without_its_packages_each_is_named_with_both_ways_on(
    folder: Path, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    own = Workspace(workspace.root, tmp_path / "cache")
    variant = load_variant(own, str(copy))
    with pytest.raises(UsageError, match="locked packages cannot be found") as caught:
        build.make_environment(own, variant)
    text = str(caught.value)
    missing = [p.file_name for p in lock.read(own, variant).packages if p.file_name in text]
    assert len(missing) > 5
    assert "an earlier version of theano-stacks; this is " in text
    assert all(way in text for way in (*VARIABLES, "./invoke lock --upgrade"))
    assert not folder_of(own, variant).exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pip: [matplotlib]", "pip: [matplotlib<1]", r"matplotlib<1 is asked for, 3\.\S+ is"),
        ("pip: [matplotlib]", "pip: [sympy]", "none of the packages under `pip:` is locked"),
        ("extends: openblas", "extends: blis", r"theano-settings=1\.0\.5=\*_0_blis is new"),
        ("pip:", "flags: {optimizer: fast_run}\npip:", r"theano-settings=1\.0\.5=\*_0_own_"),
        ("pip:", "packages: [mako]\npip:", "mako is new"),
    ],
)
def test_an_older_lock_of_another_stack(
    workspace: Workspace, tmp_path: Path, old: str, new: str, message: str
) -> None:
    copy = tmp_path / "notebook"
    shutil.copytree(OLDER / "notebook", copy)
    text = (copy / "stack.yaml").read_text()
    assert old in text
    (copy / "stack.yaml").write_text(text.replace(old, new))
    with pytest.raises(StaleError, match=message):
        lock.current(workspace, load_variant(workspace, str(copy)))


@pytest.fixture
def older(tiny: Tiny, tmp_path: Path) -> Variant:
    """Give a stack whose lock has the form and the names of an earlier version."""
    file = tmp_path / "project/stack.yaml"
    file.parent.mkdir()
    file.write_text("summary: mine\nextends: by-conda\nframework: tiny\npip: [decorator==4.4.2]\n")
    variant = load_variant(tiny.workspace, str(file))
    build.relock(tiny.workspace, variant)
    folder = lock_folder(tiny.workspace, variant)
    rename_packages(tiny.workspace, variant, folder)
    path = folder / "files.json"
    path.write_text(json.dumps(json.loads(path.read_text())["own"]))
    text = (folder / "conda-lock.yml").read_text()
    start = text.index("  custom_metadata:")
    (folder / "conda-lock.yml").write_text(text[:start] + text[text.index("package:") :])
    return variant


def rename_packages(workspace: Workspace, variant: Variant, folder: Path) -> None:
    """Give the packages names that no recipe gives, in the cache and in the lock."""
    files = {name: (folder / name).read_text() for name in ("conda-lock.yml", "sizes.json")}
    for each in lock.read(workspace, variant).packages:
        built = package.cached(workspace, each.file_name, each.sha256)
        assert built
        build_string = each.build.replace("h", "h0dd", 1)
        new = rebuilt(built.path, each.build, build_string, workspace.cache)
        digests = digests_of(new)
        name = each.file_name.replace(each.build, build_string)
        shutil.rmtree(built.path.parent)
        package.add(workspace, new, name, digests.sha256)
        for file, text in files.items():
            files[file] = (
                text.replace(each.file_name, name)
                .replace(f"build: {each.build}\n", f"build: {build_string}\n")
                .replace(each.sha256, digests.sha256)
                .replace(each.md5, digests.md5)
                .replace(f'"{name}": {each.size}', f'"{name}": {digests.size}')
            )
    for file, text in files.items():
        (folder / file).write_text(text)


def rebuilt(path: Path, old: str, new: str, folder: Path) -> Path:
    """Return a package with another build string in its metadata."""
    made = folder / f"{path.name.removesuffix('.conda').replace(old, new)}.conda"
    with tempfile.TemporaryDirectory() as unpacked:
        conda_packages.extract(str(path), unpacked)
        index = Path(unpacked, "info/index.json")
        index.write_text(index.read_text().replace(old, new))
        conda_packages.create(unpacked, None, made.name, out_folder=str(folder))
    assert read_archive(made).index["build"] == new
    return made


def in_cache(tiny: Tiny, variant: Variant, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the packages where they are."""


def in_older_cache(
    tiny: Tiny, variant: Variant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Put the packages where earlier versions had them: below the hash of their inputs."""
    for number, path in enumerate(sorted((tiny.cache / "packages").glob("*/*.conda"))):
        path.parent.rename(path.parent.with_name(f"{number:064d}"))


def in_vendored_folder(
    tiny: Tiny, variant: Variant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Carry the packages in a vendored folder."""
    vendor(tiny.workspace, [variant], folder)
    shutil.rmtree(tiny.cache / "packages")
    monkeypatch.setenv("THEANO_STACKS_VENDOR", str(folder))


def in_channel(tiny: Tiny, variant: Variant, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish the packages in a channel."""
    write_packages(tiny.workspace, [variant], folder)
    shutil.rmtree(tiny.cache / "packages")
    monkeypatch.setenv("THEANO_STACKS_CHANNEL", str(folder))


@pytest.mark.parametrize("place", [in_cache, in_older_cache, in_vendored_folder, in_channel])
def test_an_older_lock_builds_offline_to_the_same_tree(
    place: Callable[[Tiny, Variant, Path, pytest.MonkeyPatch], None],
    tiny: Tiny,
    older: Variant,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = build.make_environment(tiny.workspace, older)
    first = tree(made)
    assert sha256_of(made / "lib/python2.7/site-packages/six.py")
    shutil.rmtree(made.parent)
    place(tiny, older, tmp_path / "elsewhere", monkeypatch)
    for name, value in DEAD.items():
        monkeypatch.setenv(name, value)
    capsys.readouterr()
    assert tree(build.make_environment(tiny.workspace, older)) == first
    said = capsys.readouterr().err
    assert "0 packages built" in said
    assert "note: this version has other builds of " in said
    assert f"./invoke lock {older.option} --upgrade" in said
