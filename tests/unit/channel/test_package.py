from __future__ import annotations

import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import assemble, package
from stacks.channel.build_context import BuildContext
from stacks.channel.offers import Offer
from stacks.channel.recipe import Recipe
from stacks.core.disk import DiskError
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.pins import IndexPin, Pins, cached_path
from unit.helpers.serving import sha256
from unit.helpers.staging import written_by

DATA = {
    "package": {"name": "small", "version": "1.0"},
    "build": {"label": "py", "noarch": "python", "number": 3},
    "source": [{"project": "small", "version": "1.0", "file": "small-1.0.whl"}],
    "about": {"license": "MIT", "summary": "small", "republish": "yes"},
    "extra": {"stage": "wheel"},
}
BODY = b"a wheel"
PIN = IndexPin(
    name="small", version="1.0", filename="small-1.0.whl", size=len(BODY), sha256=sha256(BODY)
)
PINS = Pins(files=(PIN,))


def write(context: BuildContext) -> None:
    """Write a program, a text and a link."""
    (context.root / "site-packages/.hidden").mkdir(parents=True)
    (context.root / "site-packages/.hidden/small.py").write_bytes(
        context.sources["small-1.0.whl"].read_bytes()
    )
    program = context.root / "python-scripts/small"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    (context.root / "python-scripts/link").symlink_to("small")


@pytest.fixture
def offer() -> Offer:
    recipe = written_by(Recipe.model_validate_json(json.dumps(DATA)), write)
    return Offer(recipe, assemble.recipe_hash(recipe, [PIN]))


@pytest.fixture
def staged(workspace: Workspace, room: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a cache with the source."""
    monkeypatch.setattr(assemble, "_code_hash", lambda stage: "0")
    source = cached_path(workspace, PIN)
    source.parent.mkdir(parents=True)
    source.write_bytes(BODY)
    return room


def test_a_built_package_is_returned_from_the_cache(
    workspace: Workspace, offer: Offer, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = package.build(workspace, offer, PINS)
    assert sha256(built.path.read_bytes()) == built.sha256
    assert built.size == built.path.stat().st_size
    monkeypatch.setattr(package, "assemble", None)
    assert package.build(workspace, offer, PINS) == built


def test_a_package_is_read_only_in_the_cache(
    workspace: Workspace, offer: Offer, staged: Path
) -> None:
    built = package.build(workspace, offer, PINS)
    assert stat.S_IMODE(built.path.stat().st_mode) == 0o444


def test_a_package_is_found_by_its_bytes_whoever_made_it(
    workspace: Workspace, offer: Offer, staged: Path
) -> None:
    built = package.build(workspace, offer, PINS)
    name = built.path.name
    assert built.path == workspace.cache / "packages" / built.sha256 / name
    assert package.cached(workspace, name, built.sha256) == built
    assert package.cached(workspace, name, "0" * 64) is None
    assert package.cached(workspace, f"other-{name}", built.sha256) is None
    # Where versions before the first release kept it.
    older = workspace.cache / "packages" / ("1" * 64)
    built.path.parent.rename(older)
    found = package.cached(workspace, name, built.sha256)
    assert found and found.path == older / name


def test_another_code_builds_again_and_gives_the_same_bytes(
    workspace: Workspace, offer: Offer, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = package.build(workspace, offer, PINS)
    monkeypatch.setattr(assemble, "_code_hash", lambda stage: "edited")
    assert package.built_before(workspace, offer) is None
    assert package.build(workspace, offer, PINS) == built
    assert len([*(workspace.cache / "built").glob("[!.]*")]) == 2


def test_the_bytes_do_not_depend_on_the_umask(
    workspace: Workspace, offer: Offer, staged: Path
) -> None:
    first = package.build(workspace, offer, PINS)
    shutil.rmtree(first.path.parent)
    before = os.umask(0o077)
    try:
        assert package.build(workspace, offer, PINS).sha256 == first.sha256
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    "damage", ["flip", "folder", "no json", "a list", "deep", "other json", "missing", "no record"]
)
def test_a_damaged_package_or_record_is_made_again(
    workspace: Workspace,
    damage: str,
    offer: Offer,
    staged: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    built = package.build(workspace, offer, PINS)
    [record] = (workspace.cache / "built").glob("[!.]*")
    whole = record.read_bytes()
    if damage == "flip":
        data = built.path.read_bytes()
        built.path.unlink()
        built.path.write_bytes(data[:-1] + b"x")
    elif damage == "missing":
        shutil.rmtree(built.path.parent)
    elif damage == "folder":
        record.unlink()
        record.mkdir()
    elif damage == "no record":
        record.unlink()
    else:
        texts = {"no json": "{", "a list": "[1]", "deep": "[" * 100_000, "other json": '{"a": 1}'}
        record.write_text(texts[damage])
    assert package.built_before(workspace, offer) is None
    assert package.build(workspace, offer, PINS) == built
    assert sha256(built.path.read_bytes()) == built.sha256
    assert record.read_bytes() == whole
    said = "damaged in the cache; it is made again" in capsys.readouterr().err
    assert said == (damage == "flip")


def test_a_package_that_cannot_be_read_is_a_disk_error(
    workspace: Workspace, offer: Offer, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = package.build(workspace, offer, PINS)

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DiskError, match=rf"(?s){built.path.parent}.*THEANO_STACKS_CACHE"):
        package.cached(workspace, built.path.name, built.sha256)


def test_a_broken_link_is_an_error_that_leaves_nothing_in_the_cache(
    workspace: Workspace, offer: Offer, staged: Path
) -> None:
    def link(context: BuildContext) -> None:
        (context.root / "link").symlink_to("nowhere")

    with pytest.raises(IntegrityError, match=r"(?s)link: a link to nothing.*nowhere"):
        package.build(workspace, replace(offer, recipe=written_by(offer.recipe, link)), PINS)
    for name in ("packages", "built"):
        assert not list((staged / "cache" / name).glob("[!.]*"))
        assert not list((staged / "cache" / name).glob("*.part"))
