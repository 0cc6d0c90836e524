"""A package from its recipe to the cache: its name, its file, its place."""

import errno
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.channel import assemble, package
from stacks.channel.assemble import Candidate
from stacks.channel.build_context import Build, BuildContext
from stacks.channel.recipe import Recipe, read_recipes
from stacks.channel.staging.libraries import Libraries
from stacks.channel.staging.python_packages import Wheel
from stacks.channel.staging.relinked_wheel import RelinkedWheel
from stacks.channel.staging.stage import Stage
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources.conda_archive import read_archive
from stacks.sources.pins import Pins, cached_path
from unit.helpers.environments import add
from unit.helpers.serving import index_file, sha256
from unit.helpers.staging import written_by

DATA = {
    "package": {"name": "small", "version": "1.0"},
    "build": {"label": "py", "noarch": "python", "number": 3},
    "source": [{"project": "small", "version": "1.0", "file": "small-1.0.whl"}],
    "about": {"license": "MIT", "summary": "small", "republish": "yes"},
    "extra": {"stage": "wheel"},
}
RECIPE = Recipe.model_validate_json(json.dumps(DATA))
BODY = b"a wheel"
PIN = index_file(BODY, "small-1.0.whl", "small")
PINS = Pins(files=(PIN,))
LINKS = {"liba.so": "liba.so.1"}


def write(context: BuildContext) -> None:
    """Write a program, a text and a link."""
    (context.root / "site-packages/.hidden").mkdir(parents=True)
    (context.root / "site-packages/.hidden/small.py").write_bytes(
        context.sources["small-1.0.whl"].read_bytes()
    )
    add(context.root, "python-scripts/small", "#!/bin/sh\n", 0o700)
    (context.root / "python-scripts/link").symlink_to("small")


@pytest.fixture
def candidate() -> Candidate:
    recipe = written_by(RECIPE, write)
    return Candidate(recipe, assemble.recipe_hash(recipe, [PIN]))


@pytest.fixture
def staged(workspace: Workspace, room: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a cache with the source."""
    monkeypatch.setattr(assemble, "_code_hash", lambda stage: "0")
    source = cached_path(workspace.cache, PIN)
    source.parent.mkdir(parents=True)
    source.write_bytes(BODY)
    return room


def test_the_name_follows_from_the_recipe_its_pins_its_tools_and_the_stages_revision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inputs = "0123456789abcdef" * 4
    assert Candidate(RECIPE, inputs).file_name == "small-1.0-pyh0123456_3.conda"
    hashes = [
        assemble.recipe_hash(RECIPE, [PIN]),
        assemble.recipe_hash(RECIPE, [replace(PIN, sha256="0" * 64)]),
        assemble.recipe_hash(RECIPE.model_copy(update={"build": Build(number=4)}), [PIN]),
        assemble.recipe_hash(RECIPE, [PIN], ["0" * 64]),
    ]

    class Longer(Wheel):
        option: str = "as before"

    longer = RECIPE.model_copy(update={"extra": Longer(stage="wheel")})
    assert assemble.recipe_hash(longer, [PIN]) == hashes[0], "an option with a default"
    monkeypatch.setattr(Wheel, "revision", 2)
    assert len({*hashes, assemble.recipe_hash(RECIPE, [PIN])}) == 5


def test_the_name_follows_from_the_projects_own_sources_and_their_paths(
    workspace: Workspace, tmp_path: Path
) -> None:
    committed = read_recipes(workspace.recipes)["blas-threads-openblas"]
    recipe = committed.model_copy(update={"recipes": tmp_path})
    hashes = set()
    for name, text in (("a.h", "1"), ("a.h", "2"), ("inner/a.h", "2"), ("a/inner.h", "2")):
        shutil.rmtree(recipe.src, ignore_errors=True)
        add(recipe.src, name, text)
        hashes.add(assemble.recipe_hash(recipe, ()))
    assert len(hashes) == 4


def test_the_key_of_the_cache_covers_the_code_that_decides_the_bytes() -> None:
    def names(stage: type[Stage]) -> list[str]:
        return [path.stem for path in assemble.code_of(stage)]

    shared = {"debian", "elf", "stage", "tree"}
    assert names(Libraries) == sorted(shared | {"libraries"})
    assert names(RelinkedWheel) == sorted(shared | {"python_packages", "relinked_wheel"})
    unpacking = ["archives.py", "unpack.py", "reproducible.py"]
    deciding = [Path(file).name for file in assemble.DECIDING]
    assert deciding == ["build_context.py", *unpacking, "assemble.py"]


def linked(target: str) -> Callable[[BuildContext], None]:
    def write(context: BuildContext) -> None:
        context.lib.mkdir()
        (context.lib / "libb.so").symlink_to(target.replace("NAME", context.root.name))

    return write


def test_a_link_to_another_package_is_packed(tmp_path: Path) -> None:
    recipe = written_by(RECIPE, lambda context: context.lib.mkdir(), links=LINKS)
    path = assemble.assemble(Candidate(recipe, "0" * 64), {}, tmp_path)
    assert path.name == "small-1.0-pyh0000000_3.conda"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("liba.so.1", "a link to nothing"),
        ("../../../outside", "the link leads out"),
        ("/outside", "the link leads out"),
        ("../../NAME/lib/a", "the link leads out"),
    ],
)
def test_a_link_that_no_package_may_have(target: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=rf"small 1\.0: lib/libb\.so: {message}"):
        recipe = written_by(RECIPE, linked(target), links=LINKS)
        assemble.assemble(Candidate(recipe, "0" * 64), {}, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (lambda root: (root / "missing").read_text(), "No such file or directory: 'root/missing'"),
        (lambda root: (root / ".").read_bytes(), "Is a directory"),
        (lambda root: root.mkdir(), "File exists: 'root'"),
        (lambda root: b"\xe9".decode(), "can't decode byte 0xe9"),
    ],
)
def test_sources_of_another_layout_are_named_without_a_traceback(
    fault: Callable[[Path], None], found: str, tmp_path: Path
) -> None:
    message = r"small 1\.0: its sources have other files than the stage wheel expects"
    faulty = written_by(RECIPE, lambda context: fault(context.root))
    with pytest.raises(IntegrityError, match=message) as caught:
        assemble.assemble(Candidate(faulty, "0" * 64), {}, tmp_path)
    assert found in str(caught.value.found)


def test_a_full_disk_is_no_fault_of_the_sources(tmp_path: Path) -> None:
    def write(context: BuildContext) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        assemble.assemble(Candidate(written_by(RECIPE, write), "0" * 64), {}, tmp_path)


def test_a_package_is_kept_by_its_bytes_whoever_made_it(
    workspace: Workspace, candidate: Candidate, staged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = package.build(workspace, candidate, PINS)
    name = built.path.name
    assert built.path == workspace.cache / "packages" / built.sha256 / name
    assert sha256(built.path.read_bytes()) == built.sha256
    assert (built.size, built.path.stat().st_mode & 0o777) == (built.path.stat().st_size, 0o444)
    with monkeypatch.context() as patch:
        patch.setattr(package, "assemble", None)
        assert package.build(workspace, candidate, PINS) == built
    assert package.cached(workspace, name, built.sha256) == built
    assert package.cached(workspace, name, "0" * 64) is None
    assert package.cached(workspace, f"other-{name}", built.sha256) is None
    # Another code builds it again, and gives the same bytes.
    monkeypatch.setattr(assemble, "_code_hash", lambda stage: "edited")
    assert package.built_before(workspace, candidate) is None
    assert package.build(workspace, candidate, PINS) == built
    assert len([*(workspace.cache / "built").glob("[!.]*")]) == 2


@pytest.mark.parametrize("damage", ["flip", "folder", "missing", "garbage"])
@pytest.mark.usefixtures("staged")
def test_a_damaged_package_or_record_is_made_again(
    workspace: Workspace, damage: str, candidate: Candidate, capsys: pytest.CaptureFixture[str]
) -> None:
    built = package.build(workspace, candidate, PINS)
    [record] = (workspace.cache / "built").glob("[!.]*")
    whole = record.read_bytes()
    if damage == "flip":
        data = built.path.read_bytes()
        built.path.unlink()
        built.path.write_bytes(data[:-1] + b"x")
    elif damage == "missing":
        shutil.rmtree(built.path.parent)
    elif damage == "garbage":
        record.write_bytes(b"\xff")
    else:
        record.unlink()
        record.mkdir()
    assert package.built_before(workspace, candidate) is None
    assert package.build(workspace, candidate, PINS) == built
    assert sha256(built.path.read_bytes()) == built.sha256
    assert record.read_bytes() == whole
    said = "damaged in the cache; it is made again" in capsys.readouterr().err
    assert said == (damage == "flip")


def test_tools_are_used_where_environments_link_them_unless_they_are_damaged(
    workspace: Workspace, candidate: Candidate, staged: Path
) -> None:
    user = replace(candidate, tools=(candidate,))
    built = package.build(workspace, candidate, PINS)
    installed = workspace.cache / "unpacked" / built.path.stem
    for damage in (None, "edited"):
        read_archive(built.path, installed)
        program = installed / "python-scripts/small"
        if damage:
            program.chmod(0o755)
            program.write_text(damage)
        with package.unpacked_tools(workspace, PINS) as tools_of:
            tools = tools_of(user)
            assert tools and tools == tools_of(user)
            assert (tools == installed) is not bool(damage)
            assert (tools / "python-scripts/small").read_text() == "#!/bin/sh\n"
            assert tools_of(candidate) is None
        assert tools.exists() is not bool(damage)
        shutil.rmtree(installed)


def test_a_build_that_fails_leaves_nothing_in_the_cache(
    workspace: Workspace, candidate: Candidate, staged: Path
) -> None:
    with pytest.raises(IntegrityError, match=r"(?s)libb.so: a link to nothing.*nowhere"):
        recipe = written_by(candidate.recipe, linked("nowhere"))
        package.build(workspace, replace(candidate, recipe=recipe), PINS)
    for name in ("packages", "built"):
        assert not list((staged / "cache" / name).glob("[!.]*"))
        assert not list((staged / "cache" / name).glob("*.part"))
