"""What packages install together, what differs on disk, and the list of an environment's files."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.environments.make import contents
from stacks.environments.make.contents import MANIFEST, Digests
from stacks.environments.make.packages import PackageToInstall
from unit.helpers.conda import Member, conda, file, link, package_to_install
from unit.helpers.environments import add
from unit.helpers.serving import sha256


def package(folder: Path, name: str, *members: Member) -> PackageToInstall:
    (folder / name).mkdir()
    return package_to_install(conda(folder / name, *members, name=name))


@pytest.fixture
def odd(tmp_path: Path) -> PackageToInstall:
    members = [file("bin/run", b"run", 0o755), file("lib/a"), link("lib/b", "a")]
    return package(tmp_path, "odd", *members)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Give an environment with the package odd."""
    folder = tmp_path / "environment"
    for name, body in (("lib/a", "body\n"), ("conda-meta/odd-1-0.json", "")):
        add(folder, name, body)
    add(folder, "conda-meta/history")
    add(folder, "bin/run", "run", 0o755)
    (folder / "lib/b").symlink_to("a")
    return folder


def check(prefix: Path, *to_install: PackageToInstall) -> Digests:
    return contents.check(prefix, contents.contents_of(to_install, "3.9"))


def faults(prefix: Path, *to_install: PackageToInstall) -> str:
    with pytest.raises(IntegrityError, match="files of environment are not the locked") as caught:
        check(prefix, *to_install)
    return str(caught.value.found)


def relink(prefix: Path) -> None:
    (prefix / "lib/b").unlink()
    (prefix / "lib/b").symlink_to("./a")


def several(prefix: Path) -> None:
    add(prefix, "lib/a", "bodY\n")
    (prefix / "bin/run").unlink()
    add(prefix, "lib/c")


@pytest.mark.parametrize(
    ("change", "start", "end"),
    [
        (several, "bin/run: missing; lib/a: sha256 ", "; lib/c: in no package"),
        (relink, "lib/b: a link to ./a", ""),
        (lambda prefix: add(prefix, "lib/b", "body\n"), "lib/b: another kind of file", ""),
    ],
)
def test_differences_are_named(
    change: Callable[[Path], None], start: str, end: str, prefix: Path, odd: PackageToInstall
) -> None:
    change(prefix)
    found = faults(prefix, odd)
    assert found.startswith(start) and found.endswith(end or start)


def test_two_packages_with_one_path(prefix: Path, tmp_path: Path, odd: PackageToInstall) -> None:
    """rattler keeps one of the files, and the other one under another name."""
    both = [odd, package(tmp_path, "other", file("lib/a", b"other"))]
    for each in both:
        add(prefix, f"conda-meta/{each.stem}.json")
    other = "lib/a__clobber-from-other"
    add(prefix, other, "other")
    assert set(check(prefix, *both).values()) == {sha256(b) for b in (b"run", b"body\n", b"other")}
    for name, sound in (("lib/a", "body\n"), (other, "other")):
        add(prefix, name, "neither")
        assert faults(prefix, *both).startswith(f"{name}: sha256")
        add(prefix, name, sound)


@pytest.mark.parametrize(
    ("packages", "message"),
    [
        ([[link("lib", "share"), file("share/a")], [file("lib/a")]], "lib/a leads through lib"),
        ([[link("a", "/usr")]], "the link a leads out of the environment"),
        ([[link("p/q/up", "../..")], [link("p/q/s", "up/../x")]], "the link p/q/s leads out of"),
    ],
)
def test_packages_that_lead_out(packages: list[list[Member]], message: str, tmp_path: Path) -> None:
    to_install = [
        package(tmp_path, f"p{number}", *members) for number, members in enumerate(packages)
    ]
    with pytest.raises(IntegrityError, match=message):
        contents.contents_of(to_install, "3.9")


def test_where_the_files_of_a_noarch_package_go(tmp_path: Path) -> None:
    places = {
        "site-packages/six.py": "lib/python3.9/site-packages/six.py",
        "python-scripts/pip": "bin/pip",
        "share/licenses/six/LICENSE": "share/licenses/six/LICENSE",
        "lib/site-packages/x": "lib/site-packages/x",
        "site-packages-of-mine/x": "site-packages-of-mine/x",
    }
    noarch = package_to_install(conda(tmp_path, *map(file, places), noarch="python"))
    assert list(contents.contents_of([noarch], "3.9").files) == list(places.values())


def test_a_path_that_two_write(tmp_path: Path) -> None:
    """rattler would write a script through the link into the cache."""
    members = [link("lib/python3.9/site-packages/a", "/"), file("site-packages/a")]
    odd = package_to_install(conda(tmp_path, *members, noarch="python"))
    with pytest.raises(IntegrityError, match="two files are installed as lib/"):
        contents.contents_of([odd], "3.9")
    python = package(tmp_path, "python", file("bin/python3.9"), link("bin/python", "python3.9"))
    for script in ("python", "python3.9"):
        points = json.dumps({"noarch": {"type": "python", "entry_points": [f"{script} = a:main"]}})
        info = [file("info/link.json", points.encode())]
        odd = package_to_install(conda(tmp_path, info=info, noarch="python"))
        with pytest.raises(IntegrityError, match=f"bin/{script} is also written by the install"):
            contents.contents_of([python, odd], "3.9")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Give an environment with a list of its files, two of which are of no package."""
    folder = tmp_path / "made"
    add(folder, "bin/run", "run", 0o555)
    (folder / "bin/again").symlink_to("./run")
    for name in ("etc/theano-stacks/ready.json", "var/compiledir/x", "conda-meta/history"):
        add(folder, name, "changes")
    contents.write_manifest(folder)
    return folder


def listed(prefix: Path) -> dict[str, list[object]]:
    head, body = (prefix / MANIFEST).read_bytes().split(b"\n", 1)
    assert json.loads(head) == {"schema": 1, "sha256": hashlib.sha256(body).hexdigest()}
    return dict(json.loads(body))


def test_the_list_of_an_environments_files(made: Path) -> None:
    sound = ["file", "555", 3, sha256(b"run")]
    assert listed(made) == {"bin/again": ["link", "./run"], "bin/run": sound}
    # A file that was compared is not read again unless it changed.
    status = (made / "bin/run").stat()
    checked = {(status.st_ino, status.st_size, status.st_mtime_ns): "of its package"}
    contents.write_manifest(made, checked=checked)
    assert listed(made)["bin/run"] == ["file", "555", 3, "of its package"]
    os.utime(made / "bin/run", ns=(0, status.st_mtime_ns + 1))
    contents.write_manifest(made, checked=checked)
    assert listed(made)["bin/run"] == sound


def test_the_list_of_an_image_in_layers(made: Path, tmp_path: Path) -> None:
    whole = (made / MANIFEST).read_bytes()
    (made / MANIFEST).unlink()
    layer = tmp_path / "layer"
    for name in ("bin/again", "etc/theano-stacks"):
        (layer / name).parent.mkdir(parents=True)
        (made / name).rename(layer / name)
    contents.write_manifest(made, layer)
    assert (layer / MANIFEST).read_bytes() == whole


def test_differences_between_environments(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    add(other, "bin/run", "rum", 0o555)
    assert contents.differences(other, made) == {"bin/again": "missing", "bin/run": "changed"}
    (other / "bin/again").symlink_to("run")
    add(other, "bin/run", "run", 0o755)
    assert contents.differences(other, made) == {"bin/again": "changed", "bin/run": "changed"}
    (other / "bin/run").chmod(0o555)
    (other / "bin/again").unlink()
    (other / "bin/again").symlink_to("./run")
    add(other, "extra")
    assert contents.differences(other, made) == {}
