"""An environment of one small package, made and repaired."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.channel.settings_files import MODULES
from stacks.core import disk
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import READY
from stacks.environments.make import contents, prefix, settings
from stacks.environments.make.build import lines_of_repair
from stacks.locks.lock import Lock
from stacks.sources.pins import LockedPackage
from stacks.variants.variant import Variant
from unit.helpers.conda import Member, conda, file, link, package_to_install
from unit.helpers.environments import SITE_PACKAGES, add

MODULE = f"{SITE_PACKAGES}/mod.py"
SIX = f"{SITE_PACKAGES}/six-1.16.dist-info/METADATA"
FILES = [
    file("bin/run", b"run", 0o755),
    file("lib/a", b"sound"),
    link("lib/b", "a"),
    file(MODULE),
    file(SIX, b"Name: six\nVersion: 1.16\n"),
]


class Made:
    """An environment, and the functions that make and repair it."""

    def __init__(self, workspace: Workspace, variant: Variant, folder: Path) -> None:
        self.workspace, self.variant = workspace, variant
        self.place = folder / "environment"
        self.lock_with(*FILES)
        self.make()

    def lock_with(self, *files: Member) -> None:
        """Lock a package of these files."""
        name = "python-3.9-0.conda"
        path = conda(self.place.parent, *files, name="python", version="3.9", file_name=name)
        self.package = package_to_install(path)
        digest, size = self.package.built.sha256, path.stat().st_size
        package = LockedPackage("python", "3.9", "0", self.package.url, digest, "0" * 32, size)
        self.lock = Lock((package,))

    @property
    def making(self) -> prefix.Making:
        return prefix.Making(self.workspace, self.variant, self.lock, [self.package], self.place)

    @property
    def aside(self) -> Path:
        return folders.replaced_folder(self.place)

    def make(self, *, clean: bool = False) -> list[str]:
        return prefix.make(self.making, clean=clean)

    def repair(self) -> dict[str, str]:
        return prefix.repair(self.making)

    def files(self) -> dict[str, tuple[int, bytes | str]]:
        return {
            str(path.relative_to(self.place)): (
                path.lstat().st_mode,
                str(path.readlink()) if path.is_symlink() else path.read_bytes(),
            )
            for path in self.place.rglob("*")
            if path.is_symlink() or path.is_file()
        }


def contents_of(folder: Path) -> dict[Path, tuple[int, str]]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.stat().st_ino, path.read_text()) for path in files}


@pytest.fixture
def made(workspace: Workspace, variant: Variant, tmp_path: Path) -> Made:
    return Made(workspace, variant, tmp_path)


def edit(place: Path) -> None:
    add(place, "lib/a", "an edit")


def remove(place: Path) -> None:
    shutil.rmtree(place / "lib")


def folder_for_file(place: Path) -> None:
    (place / "lib/b").unlink()
    add(place, "lib/b/deep/mine")


def linked(name: str) -> Callable[[Path], None]:
    """As to a folder that has files of the same names, which are not the environment's."""

    def damage(place: Path) -> None:
        (place / name).rename(place.parent / "outside")
        (place / name).symlink_to(place.parent / "outside")

    return damage


def file_for(name: str) -> Callable[[Path], None]:
    def damage(place: Path) -> None:
        shutil.rmtree(place / name)
        (place / name).touch()

    return damage


def pipe(place: Path) -> None:
    (place / "lib/a").unlink()
    os.mkfifo(place / "lib/a")


def no_manifest(place: Path) -> None:
    (place / contents.MANIFEST).unlink()
    add(place, f"{contents.MANIFEST}/mine", "mine")


def replaced_by_pip(place: Path) -> None:
    shutil.rmtree((place / SIX).parent)
    for name, text in {"METADATA": "Name: six\nVersion: 2\n", "INSTALLER": "pip\n"}.items():
        add(place, f"{SITE_PACKAGES}/six-2.dist-info/{name}", text)
    rows = ("six-2.dist-info/METADATA,,", "six-2.dist-info/INSTALLER,,", "six-2.dist-info/RECORD,,")
    add(place, f"{SITE_PACKAGES}/six-2.dist-info/RECORD", "\n".join(rows) + "\n")


def replaced_by_conda(place: Path) -> None:
    record = {"name": "python", "version": "3.10", "files": ["lib/new.so"]}
    add(place, OTHER_PYTHON, json.dumps(record))
    add(place, "lib/new.so")


def closed(place: Path) -> None:
    edit(place)
    (place / "lib").chmod(0)


OTHER_PYTHON = "conda-meta/python-3.10-0.json"
ETC = {"etc": "extra", settings.EXPECTATION: "missing", MODULES: "missing"}
LIB = dict.fromkeys(("lib/a", "lib/b", MODULE, SIX), "missing")
OTHER_SIX = [f"{SITE_PACKAGES}/six-2.dist-info/{n}" for n in ("METADATA", "INSTALLER", "RECORD")]


@pytest.mark.parametrize(
    ("damage", "faults", "kept"),
    [
        (edit, {"lib/a": "changed"}, {"lib/a"}),
        (lambda place: (place / "bin/run").chmod(0o644), {"bin/run": "changed"}, {"bin/run"}),
        (remove, LIB, set()),
        (folder_for_file, {"lib/b": "missing", "lib/b/deep/mine": "extra"}, {"lib/b/deep/mine"}),
        (file_for("lib"), {**LIB, "lib": "extra"}, {"lib"}),
        (linked("lib"), {**LIB, "lib": "extra"}, {"lib"}),
        (pipe, {"lib/a": "changed"}, {"lib/a"}),
        (lambda place: add(place, "lib/odd.so"), {"lib/odd.so": "extra"}, {"lib/odd.so"}),
        (no_manifest, {f"{contents.MANIFEST}/mine": "extra"}, {f"{contents.MANIFEST}/mine"}),
        (
            replaced_by_conda,
            {OTHER_PYTHON: "extra", "lib/new.so": "extra"},
            {OTHER_PYTHON, "lib/new.so"},
        ),
        (linked("etc"), ETC, {"etc"}),
        (file_for("etc"), ETC, {"etc"}),
        (closed, {"lib/a": "changed"}, {"lib/a"}),
        (replaced_by_pip, {SIX: "missing", **dict.fromkeys(OTHER_SIX, "extra")}, {*OTHER_SIX}),
    ],
)
def test_a_damaged_environment_is_made_again_and_its_files_kept_aside(
    damage: Callable[[Path], None], faults: dict[str, str], kept: set[str], made: Made
) -> None:
    sound = made.files()
    damage(made.place)
    outside = contents_of(made.place.parent / "outside")
    assert made.repair() == faults
    assert made.files() == sound
    assert contents_of(made.place.parent / "outside") == outside
    moved = [path for path in made.aside.rglob("*") if path.is_symlink() or not path.is_dir()]
    assert {str(path.relative_to(made.aside / "1")) for path in moved} == kept
    assert made.repair() == {}


def test_what_is_added_and_compiled_stays_and_bytecode_goes(made: Made) -> None:
    info = f"{SITE_PACKAGES}/mine-1.dist-info"
    mine = {f"{SITE_PACKAGES}/mine.py": "mine", f"{info}/INSTALLER": "pip\n"}
    mine[f"{info}/RECORD"] = "mine.py,,\nmine-1.dist-info/INSTALLER,,\nmine-1.dist-info/RECORD,,\n"
    mine["var/compiledir/module.so"] = "compiled"
    for name, text in mine.items():
        add(made.place, name, text)
    add(made.place, f"{SITE_PACKAGES}/__pycache__/mod.cpython-39.pyc", "of an edit")
    add(made.place, contents.MANIFEST, "damaged")
    (made.place / READY).unlink()
    assert made.repair() == {}
    assert {name: (made.place / name).read_text() for name in mine} == mine
    assert not (made.place / SITE_PACKAGES / "__pycache__").exists()
    assert folders.key_in(made.place) == made.making.key
    assert not made.aside.exists()


def test_links_to_a_larger_disk_stay_and_each_repair_keeps_what_it_replaces(made: Made) -> None:
    larger = made.place.parent / "disk"
    add(larger, "modules/module.so", "compiled")
    shutil.rmtree(made.place / "var", ignore_errors=True)
    made.place.rename(larger / "environment")
    made.place.symlink_to("disk/environment")
    (made.place / "var").symlink_to("../modules")
    add(made.place, "conda-meta/history", "# update specs: ['pandas']\n")
    for number in ("1", "2"):
        add(made.place, "lib/a", number)
        assert made.repair() == {"lib/a": "changed"}
        assert (made.aside / number / "lib/a").read_text() == number
    assert made.place.is_symlink() and made.aside == larger / "environment.replaced"
    assert (made.place / "var").readlink() == Path("../modules")
    assert (made.place / "var/module.so").read_text() == "compiled"
    assert (made.place / "conda-meta/history").read_text() == "# update specs: ['pandas']\n"


def test_an_environment_is_made_once_and_anew_if_asked(made: Made) -> None:
    add(made.place, "lib/odd.so")
    assert made.make() == [] and (made.place / "lib/odd.so").exists()
    made.make(clean=True)
    assert not (made.place / "lib/odd.so").exists()


def test_what_the_lock_no_longer_has_is_not_the_users(made: Made) -> None:
    info = f"{SITE_PACKAGES}/old-1.dist-info"
    record = b"old-1.dist-info/INSTALLER,,\nold-1.dist-info/RECORD,,\n"
    made.lock_with(*FILES, file(f"{info}/INSTALLER", b"pip\n"), file(f"{info}/RECORD", record))
    made.make()
    made.lock_with(*FILES)
    extra = {name for name, fault in made.repair().items() if fault == "extra"}
    assert extra == {f"{info}/INSTALLER", f"{info}/RECORD"}
    assert not (made.place / info).exists()


def test_a_repair_that_fails_at_its_end_loses_no_compiled_module(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Path) -> None:
        raise KeyboardInterrupt

    add(made.place, "var/compiledir/module.so", "compiled")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(disk, "exchange", fail)
        made.repair()
    assert (made.place / "var/compiledir/module.so").read_text() == "compiled"
    assert made.repair() == {}
    assert (made.place / "var/compiledir/module.so").read_text() == "compiled"


def test_a_repair_lists_its_files_of_thousands_the_first() -> None:
    aside = Path("/x/environment.replaced")
    assert lines_of_repair({"lib/b": "extra", "bin/a": "changed"}, aside) == [
        "put back: bin/a (changed)",
        "moved away: lib/b (extra)",
        "the replaced files are in /x/environment.replaced",
    ]
    lines = lines_of_repair({f"lib/{number:04}": "missing" for number in range(5611)}, aside)
    assert (len(lines), lines[0]) == (12, "put back: lib/0000 (missing)")
    assert lines[-2:] == ["put back: lib/0010 (missing)", "and 5,600 more"]
