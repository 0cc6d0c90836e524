import json
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.channel.staging.python_packages import SHEBANG
from stacks.core.errors import IntegrityError
from stacks.environments.make import install, pip_install
from stacks.environments.make.packages import PackageToInstall
from stacks.variants.variant import Variant
from unit.helpers.archives import member
from unit.helpers.conda import Member, conda, file, link, listed, package_to_install
from unit.helpers.environments import add, linked
from unit.helpers.staging import tree


def make(variant: Variant, folder: Path, *to_install: PackageToInstall) -> Path:
    made = folder / "scratch" / "environment"
    made.parent.mkdir()
    install.install(folder / "unpacked", variant, to_install, made, folder / "final")
    return made


def rewritten(folder: Path, *members: Member) -> PackageToInstall:
    """Return a package of these files and of one that gets the path of its environment."""
    members = (*members, file("etc/path", b"root=/placeholder/x\n"))
    paths = listed(members)
    paths[-1] |= {"prefix_placeholder": "/placeholder", "file_mode": "text"}
    return package_to_install(conda(folder, *members, paths=paths))


def test_an_installation(variant: Variant, tmp_path: Path) -> None:
    members = [file("bin/run", b"run", 0o775), file("lib/a", mode=0o600), link("lib/b", "a")]
    made = make(variant, tmp_path, rewritten(tmp_path, *members))
    assert (made / "etc/path").read_text() == f"root={tmp_path}/final/x\n"
    assert {name: f"{(made / name).stat().st_mode & 0o777:o}" for name in ("bin/run", "lib/a")} == {
        "bin/run": "555",
        "lib/a": "444",
    }
    record = json.loads((made / "conda-meta/odd-1-0.json").read_bytes())
    assert not [value for value in record.values() if str(tmp_path) in str(value)]


def damage_placeholder(unpacked: Path) -> None:
    path = unpacked / "info/paths.json"
    path.write_text(path.read_text().replace("/placeholder", "=/placeholder"))


def damage_content(unpacked: Path) -> None:
    (unpacked / "lib/a").chmod(0o644)
    (unpacked / "lib/a").write_bytes(b"bodY\n")


def damage_folder(unpacked: Path) -> None:
    unpacked.rename(unpacked.with_name("elsewhere"))
    unpacked.symlink_to("elsewhere")


def damage_kind(unpacked: Path) -> None:
    (unpacked / "info/paths.json").unlink()
    os.mkfifo(unpacked / "info/paths.json")


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (damage_placeholder, "info/paths.json: sha256"),
        (damage_content, "lib/a: sha256"),
        (damage_folder, "odd-1-0: a link"),
        (damage_kind, "info/paths.json: missing"),
        (lambda place: (place / "lib/a").chmod(0o755), "lib/a: mode 755"),
        (lambda place: linked(place / "lib/b", "/etc/passwd"), "lib/b: a link to /etc"),
        (lambda place: linked(place / "lib/a", "../etc/path"), "lib/a: a link to ../etc"),
    ],
)
def test_a_damaged_cache_is_unpacked_again(
    damage: Callable[[Path], None],
    found: str,
    variant: Variant,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    package = rewritten(tmp_path, file("lib/a"), link("lib/b", "a"))
    first = make(variant, tmp_path, package)
    sound = {name: (first / name).read_bytes() for name in tree(first)}
    (tmp_path / "scratch").rename(tmp_path / "before")
    unpacked = tmp_path / "unpacked/odd-1-0"
    damage(unpacked)
    second = make(variant, tmp_path, package)
    assert f"damaged ({found}" in capsys.readouterr().err
    assert {name: (second / name).read_bytes() for name in tree(second)} == sound
    assert (second / "lib/a").stat().st_mode & 0o777 == 0o444
    assert not unpacked.is_symlink() and (second / "lib/a").samefile(unpacked / "lib/a")


def test_threads_that_go_on_after_an_error_do_not_write_into_the_cache(
    variant: Variant, tmp_path: Path
) -> None:
    """rattler unpacks a package that it does not find, also while the cache is put right."""
    to_install = []
    for name in [f"p{number}" for number in range(40)]:
        members = [file(f"{name}/{number}") for number in range(20)]
        path = conda(tmp_path, *members, name=name, file_name=f"{name}-1-0.conda")
        to_install.append(package_to_install(path))
    make(variant, tmp_path, *to_install)
    (tmp_path / "scratch").rename(tmp_path / "before")
    (tmp_path / "unpacked/p0-1-0/p0/0").unlink()
    made = make(variant, tmp_path, *to_install)
    assert len(tree(made)) == len(tree(tmp_path / "before/environment"))
    cached = {path.name for path in (tmp_path / "unpacked").iterdir()}
    assert cached == {path.stem for path in tmp_path.glob("*.conda")}


@pytest.mark.parametrize("change", ["u+w", "go-rwx", "a+w"])
def test_a_chmod_of_the_cache_does_not_reach_what_is_made_of_it(
    change: str, variant: Variant, tmp_path: Path
) -> None:
    package = package_to_install(conda(tmp_path, file("lib/a"), file("bin/run", mode=0o755)))
    make(variant, tmp_path, package)
    (tmp_path / "scratch").rename(tmp_path / "before")
    subprocess.run(["chmod", "-R", change, tmp_path / "unpacked"], check=True)
    made = make(variant, tmp_path, package)
    modes = {name: (made / name).stat().st_mode & 0o777 for name in ("lib/a", "bin/run")}
    assert modes == {"lib/a": 0o444, "bin/run": 0o555}


def extended(path: bytes) -> bytes:
    return b"%d path=%s\n" % (len(path) + 9, path)


def second_list(*more: Member) -> list[Member]:
    """Return members by which rattler would read another list of paths than Python."""
    entries = listed([file("lib/a")])
    entries[0]["_path"] = "../odd-1-0/lib/a"
    evil = json.dumps({"paths": entries, "paths_version": 1}).encode()
    return [file("lib/a"), *more, file("q", evil)]


SMUGGLED = {
    "two kinds of long names": second_list(
        (member("x", tarfile.XHDTYPE), extended(b"lib/b")),
        (member("././@LongLink", tarfile.GNUTYPE_LONGNAME), b"info/paths.json\0"),
    ),
    "one key twice": second_list(
        (member("x", tarfile.XHDTYPE), extended(b"info/paths.json") + extended(b"lib/b"))
    ),
}


@pytest.mark.parametrize("name", ["two kinds of long names", "one key twice"])
def test_a_list_of_paths_that_another_reader_sees(
    name: str, variant: Variant, tmp_path: Path
) -> None:
    """Tar readers disagree on such members: one reader checks and unpacks, rattler reads none."""
    path = conda(tmp_path, *SMUGGLED[name], paths=listed([file("lib/a")]))
    made = make(variant, tmp_path, package_to_install(path))
    assert tree(made / "lib") == ["a"]
    assert {name for name in tree(tmp_path / "scratch") if not name.endswith(".lock")} == {
        "index.json",
        *(f"environment/{name}" for name in tree(made)),
    }


SHORT = "#!{place}/bin/python\nimport a\na.main()\n"
LONG = "#!/bin/sh\n'''exec' \"{place}/bin/python\" \"$0\" \"$@\"\n' '''\nimport a\na.main()\n"


@pytest.mark.parametrize(
    ("name", "text", "is_changed"),
    [
        ("bin/a", SHORT, True),
        ("bin/a", LONG, True),
        ("bin/a", "#!/usr/bin/python\n", False),
        ("lib/a.py", "HOME = '{place}'\n", None),
        ("bin/a", "#!{place}/bin/python\nHOME = '{place}'\n", None),
        ("bin/a", "HOME = '{place}'\n", None),
        ("bin/a", "\x7fELF {place}", None),
    ],
)
def test_a_file_that_has_the_path_of_its_prefix(
    name: str, text: str, is_changed: bool | None, tmp_path: Path
) -> None:
    """A script runs anywhere; None: another file is refused."""
    path = add(tmp_path, name, text.format(place=tmp_path))
    if is_changed is None:
        with pytest.raises(IntegrityError, match=f"pip installed {name} with the path"):
            pip_install._make_relocatable(tmp_path, [name], [tmp_path])
        return
    changed = pip_install._make_relocatable(tmp_path, [name], [tmp_path])
    assert changed == ({name} if is_changed else set())
    if is_changed:
        assert path.read_text() == f"{SHEBANG}import a\na.main()\n"
        assert path.stat().st_mode & 0o777 == 0o755
