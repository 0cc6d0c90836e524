from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stacks.core.errors import IntegrityError
from stacks.environments.make import contents
from stacks.environments.make.packages import Part
from unit.helpers.conda import Member, conda, file, link, part_of
from unit.helpers.serving import sha256

FILES = ("bin/run", "lib/a", "lib/b", "conda-meta/odd-1-0.json", "conda-meta/history")


def part(folder: Path, name: str, *members: Member) -> Part:
    (folder / name).mkdir()
    return part_of(conda(folder / name, *members, name=name))


@pytest.fixture
def odd(tmp_path: Path) -> Part:
    members = [file("bin/run", b"run", 0o755), file("lib/a"), link("lib/b", "a")]
    return part(tmp_path, "odd", *members)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    folder = tmp_path / "environment"
    for name, body in (("bin/run", "run"), ("lib/a", "body\n"), *((n, "") for n in FILES[3:])):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(body)
    (folder / "bin/run").chmod(0o755)
    (folder / "lib/b").symlink_to("a")
    return folder


def faults(prefix: Path, *parts: Part) -> str:
    with pytest.raises(IntegrityError, match="files of environment are not the locked") as caught:
        contents.check(prefix, contents.contents_of(parts, "3.9"))
    return str(caught.value.found)


def test_files_of_a_sound_environment_become_read_only(prefix: Path, odd: Part) -> None:
    contents.check(prefix, contents.contents_of([odd], "3.9"))
    assert (prefix / "bin/run").stat().st_mode & 0o7777 == 0o555
    assert (prefix / "lib/a").stat().st_mode & 0o7777 == 0o444


def test_the_files_that_were_compared(prefix: Path, odd: Part) -> None:
    checked = contents.check(prefix, contents.contents_of([odd], "3.9"))
    assert {name: each.sha256 for name, each in checked.items()} == {
        "bin/run": sha256(b"run"),
        "lib/a": sha256(b"body\n"),
    }
    file = prefix / "lib/a"
    # It became read-only after that.
    assert checked["lib/a"].is_still(file.stat())
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 1))
    assert not checked["lib/a"].is_still(file.stat())
    file.unlink()
    file.write_text("body\n")
    assert not checked["lib/a"].is_still(file.stat())


def test_differences_are_named(prefix: Path, odd: Part) -> None:
    (prefix / "lib/a").write_text("bodY\n")
    (prefix / "bin/run").unlink()
    (prefix / "lib/c").touch()
    found = faults(prefix, odd)
    assert found.startswith("bin/run: missing; lib/a: sha256 ")
    assert found.endswith("; lib/c: in no package")


def test_a_changed_mode_is_named(prefix: Path, odd: Part) -> None:
    (prefix / "lib/a").chmod(0o755)
    assert faults(prefix, odd) == "lib/a: mode 755"


@pytest.mark.parametrize("target", ["./a", "/etc/passwd"])
def test_a_changed_link_is_named(target: str, prefix: Path, odd: Part) -> None:
    (prefix / "lib/b").unlink()
    (prefix / "lib/b").symlink_to(target)
    assert faults(prefix, odd) == f"lib/b: a link to {target}"


def test_another_kind_of_file_is_named(prefix: Path, odd: Part) -> None:
    (prefix / "lib/b").unlink()
    (prefix / "lib/b").write_text("body\n")
    assert faults(prefix, odd) == "lib/b: another kind of file"


def test_two_packages_with_one_path(prefix: Path, tmp_path: Path, odd: Part) -> None:
    """rattler keeps one of the files, and the other one under another name."""
    both = [odd, part(tmp_path, "other", file("lib/a", b"other"))]
    for part_ in both:
        (prefix / f"conda-meta/{part_.stem}.json").touch()
    (prefix / "lib/a__clobber-from-other").write_text("other")
    contents.check(prefix, contents.contents_of(both, "3.9"))
    (prefix / "lib/a").chmod(0o644)
    (prefix / "lib/a").write_text("neither")
    assert faults(prefix, *both).startswith("lib/a: sha256")


def test_a_path_through_a_link_of_another_package(tmp_path: Path) -> None:
    first = part(tmp_path, "first", link("lib", "share"), file("share/a"))
    second = part(tmp_path, "second", file("lib/a"))
    with pytest.raises(IntegrityError, match="is refused: lib/a leads through lib"):
        contents.contents_of([first, second], "3.9")


@pytest.mark.parametrize(
    ("name", "target"), [("a", "/usr"), ("a", ".."), ("lib/a", "../.."), ("lib/a", "b/../../../x")]
)
def test_a_link_out_of_the_environment(name: str, target: str, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=f"the link {name} leads out of the environment"):
        contents.contents_of([part(tmp_path, "odd", link(name, target))], "3.9")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("site-packages/six.py", "lib/python3.9/site-packages/six.py"),
        ("python-scripts/pip", "bin/pip"),
        ("share/licenses/six/LICENSE", "share/licenses/six/LICENSE"),
        ("lib/site-packages/x", "lib/site-packages/x"),
        ("site-packages-of-mine/x", "site-packages-of-mine/x"),
    ],
)
def test_where_a_file_of_a_noarch_package_goes(name: str, place: str, tmp_path: Path) -> None:
    noarch = part_of(conda(tmp_path, file(name), noarch="python"))
    assert list(contents.contents_of([noarch], "3.9").files) == [place]


def test_a_link_that_leads_out_by_way_of_another_one(tmp_path: Path) -> None:
    odd = part(tmp_path, "odd", link("p/q/up", "../.."), link("p/q/s", "up/../x"))
    with pytest.raises(IntegrityError, match="the link p/q/s leads out of the environment"):
        contents.contents_of([odd], "3.9")


def test_links_that_stay_inside_by_way_of_others(tmp_path: Path) -> None:
    links = [
        link("lib64", "lib"),
        link("lib/deep/up", "../../lib64/../share"),
        link("loop", "loop"),
    ]
    found = contents.contents_of([part(tmp_path, "odd", *links)], "3.9")
    assert sorted(found.files) == ["lib/deep/up", "lib64", "loop"]


def test_two_files_of_a_noarch_package_with_one_path(tmp_path: Path) -> None:
    members = [link("lib/python3.9/site-packages/a", "/"), file("site-packages/a")]
    odd = part_of(conda(tmp_path, *members, noarch="python"))
    with pytest.raises(IntegrityError, match="two files are installed as lib/"):
        contents.contents_of([odd], "3.9")


@pytest.mark.parametrize("script", ["python", "python3.9"])
def test_a_script_in_place_of_a_packages_file(script: str, tmp_path: Path) -> None:
    """rattler would write it through the link into the cache."""
    python = part(
        tmp_path, "python", file("bin/python3.9", b"elf"), link("bin/python", "python3.9")
    )
    points = json.dumps({"noarch": {"type": "python", "entry_points": [f"{script} = a:main"]}})
    info = [file("info/link.json", points.encode())]
    odd = part_of(conda(tmp_path, info=info, noarch="python"))
    with pytest.raises(IntegrityError, match=f"bin/{script} is also written by the installation"):
        contents.contents_of([python, odd], "3.9")


def test_a_clobbered_file_is_compared(prefix: Path, tmp_path: Path, odd: Part) -> None:
    both = [odd, part(tmp_path, "other", file("lib/a", b"other"))]
    for part_ in both:
        (prefix / f"conda-meta/{part_.stem}.json").touch()
    (prefix / "lib/a__clobber-from-other").write_text("neither")
    assert faults(prefix, *both).startswith("lib/a__clobber-from-other: sha256")
