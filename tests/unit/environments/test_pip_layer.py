from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
from pathlib import Path

import pytest

from stacks.channel.staging.wheel import SHEBANG
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.environments import pip_layer
from stacks.sources.pins import IndexPin
from unit.helpers.serving import sha256

PIN = IndexPin(name="a", version="1", filename="a-1.whl", size=1, sha256="0" * 64)
SITE = "lib/python3.9/site-packages"
SHORT = "#!{place}/bin/python\nimport a\na.main()\n"
LONG = "#!/bin/sh\n'''exec' \"{place}/bin/python\" \"$0\" \"$@\"\n' '''\nimport a\na.main()\n"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    place = tmp_path / "prefix"
    for folder in ("bin", f"{SITE}/a-1.dist-info"):
        (place / folder).mkdir(parents=True)
    return place


@pytest.mark.parametrize("text", [SHORT, LONG])
def test_scripts_find_the_python_beside_them(text: str, prefix: Path) -> None:
    script, record = prefix / "bin/a", prefix / f"{SITE}/a-1.dist-info/RECORD"
    script.write_text(text.format(place=prefix))
    record.write_text("../../../bin/a,sha256=wrong,1\na.py,sha256=x,2\n")
    pip_layer._make_relocatable(prefix, ["bin/a", f"{SITE}/a-1.dist-info/RECORD"], [prefix])
    data = script.read_bytes()
    assert data == f"{SHEBANG}import a\na.main()\n".encode()
    assert script.stat().st_mode & 0o777 == 0o755
    assert list(csv.reader(record.read_text().splitlines())) == [
        ["../../../bin/a", f"sha256={encoded(data)}", str(len(data))],
        ["a.py", "sha256=x", "2"],
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (f"{SITE}/a.py", "HOME = '{place}'\n"),
        ("bin/a", "#!{place}/bin/python\nHOME = '{place}'\n"),
        ("bin/a", "HOME = '{place}'\n"),
        ("bin/a", "\x7fELF {place}"),
    ],
)
def test_other_files_with_the_path_inside_are_refused(name: str, text: str, prefix: Path) -> None:
    (prefix / name).write_text(text.format(place=prefix))
    with pytest.raises(IntegrityError, match=f"pip installed {name} with the path"):
        pip_layer._make_relocatable(prefix, [name], [prefix])


def test_files_without_the_path_stay_as_they_are(prefix: Path) -> None:
    record = prefix / f"{SITE}/a-1.dist-info/RECORD"
    record.write_text("z.py,,\na.py,,\n")
    pip_layer._make_relocatable(prefix, [f"{SITE}/a-1.dist-info/RECORD"], [prefix])
    assert record.read_text() == "z.py,,\na.py,,\n"


@pytest.fixture
def kept(room: Path) -> Path:
    folder = room / "cache/layers" / pip_layer.key_of(["python"], [PIN])
    (folder / "files/lib").mkdir(parents=True)
    for name in ("a1.py", "a2.py"):
        (folder / "files/lib" / name).write_text(name)
    manifest = {f"lib/{name}": sha256(name.encode()) for name in ("a1.py", "a2.py")}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_a_layer_that_is_whole_is_linked(workspace: Workspace, kept: Path, tmp_path: Path) -> None:
    found = pip_layer.add(workspace, tmp_path / "prefix", kept.name, [PIN])
    assert sorted(found) == ["lib/a1.py", "lib/a2.py"]
    made = tmp_path / "prefix/lib/a1.py"
    assert made.samefile(kept / "files/lib/a1.py")


@pytest.mark.parametrize(
    "damage",
    ["flip", "fewer", "more", "renamed to another", "no dictionary", "no json", "wrong type"],
)
def test_a_layer_that_is_damaged_is_not(damage: str, kept: Path) -> None:
    manifest = kept / "manifest.json"
    text = manifest.read_text()
    if damage == "flip":
        (kept / "files/lib/a1.py").write_text("changed")
    elif damage == "fewer":
        (kept / "files/lib/a1.py").unlink()
    elif damage == "more":
        (kept / "files/lib/a3.py").touch()
    elif damage == "renamed to another":
        manifest.write_text(text.replace("a1.py", "a2.py", 1))
    else:
        bad = {"no dictionary": "[]", "no json": text[:-1], "wrong type": '{"lib/a1.py": 1}'}
        manifest.write_text(bad[damage])
    assert pip_layer._read(kept) is None


def test_what_a_layer_is_named_after() -> None:
    other = IndexPin(name="a", version="1", filename="a-1.whl", size=1, sha256="1" * 64)
    keys = {
        pip_layer.key_of(["python", "gxx"], [PIN]),
        pip_layer.key_of(["python"], [PIN]),
        pip_layer.key_of(["python"], [other]),
        pip_layer.key_of(["python"], [PIN, other]),
        pip_layer.key_of(["python"], [other, PIN]),
    }
    assert len(keys) == 5
    assert pip_layer.key_of(["gxx", "python"], [PIN]) in keys


def test_a_copy_where_no_link_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").chmod(0o755)
    pip_layer.link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "a"
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o755
