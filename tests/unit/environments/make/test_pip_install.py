from __future__ import annotations

import base64
import csv
import hashlib
import os
from pathlib import Path

import pytest

from stacks.channel.staging.python_packages import SHEBANG
from stacks.core.errors import IntegrityError
from stacks.environments.make import pip_install
from stacks.sources.pins import IndexPin

SITE = "lib/python3.9/site-packages"
SHORT = "#!{place}/bin/python\nimport a\na.main()\n"
LONG = "#!/bin/sh\n'''exec' \"{place}/bin/python\" \"$0\" \"$@\"\n' '''\nimport a\na.main()\n"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    place = tmp_path / "prefix"
    for folder in ("bin", SITE):
        (place / folder).mkdir(parents=True)
    return place


@pytest.mark.parametrize("text", [SHORT, LONG])
def test_scripts_find_the_python_beside_them(text: str, prefix: Path) -> None:
    script, info = prefix / "bin/a", prefix / f"{SITE}/Some.Name-1.0.dist-info"
    script.write_text(text.format(place=prefix))
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Some.Name\nVersion: 1.0\n")
    rows = ("../../../bin/a,sha256=wrong,1", f"{info.name}/RECORD,,", "a.py,sha256=x,2")
    (info / "RECORD").write_text("\n".join(rows) + "\n")
    names = ["bin/a", f"{SITE}/{info.name}/RECORD"]
    scripts = pip_install._make_relocatable(prefix, names, [prefix])
    pip_install._correct_record(info, prefix, scripts)
    data = script.read_bytes()
    assert data == f"{SHEBANG}import a\na.main()\n".encode()
    assert script.stat().st_mode & 0o777 == 0o755
    renamed = prefix / f"{SITE}/some_name-1.0.dist-info"
    assert not info.exists() and (renamed / "METADATA").is_file()
    assert list(csv.reader((renamed / "RECORD").read_text().splitlines())) == [
        ["../../../bin/a", f"sha256={encoded(data)}", str(len(data))],
        ["a.py", "sha256=x", "2"],
        ["some_name-1.0.dist-info/RECORD", "", ""],
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
        pip_install._make_relocatable(prefix, [name], [prefix])


def test_files_without_the_path_stay_as_they_are(prefix: Path) -> None:
    (prefix / "bin/a").write_text("#!/usr/bin/python\n")
    assert pip_install._make_relocatable(prefix, ["bin/a"], [prefix]) == set()
    assert (prefix / "bin/a").read_text() == "#!/usr/bin/python\n"


def test_a_copy_where_no_link_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").chmod(0o755)
    pip_install.link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "a"
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o755


def test_source_archives_are_built_while_wheels_are_installed(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process of pip gets its own files, in its own folder."""
    pins = [
        IndexPin(name=name, version="1", filename=f"{name}-1{ending}", size=1, sha256=name * 64)
        for name, ending in (("a", ".tar.gz"), ("b", ".whl"), ("c", ".whl"))
    ]
    calls = []

    def pip(words: list[str | Path], cwd: Path, env: dict[str, str]) -> str:
        requirements = Path(words[words.index("--requirement") + 1])
        links = Path(words[words.index("--find-links") + 1])
        assert cwd == requirements.parent == links.parent == Path(env["TMPDIR"])
        names = [line.partition("==")[0] for line in requirements.read_text().splitlines()]
        calls.append((names, sorted(path.name for path in links.iterdir())))
        return ""

    monkeypatch.setattr(pip_install, "call", pip)
    files = {}
    for pin in pins:
        files[pin] = tmp_path / pin.filename
        files[pin].touch()
    pip_install.install(prefix, files)
    assert sorted(calls) == [(["a"], ["a-1.tar.gz"]), (["b", "c"], ["b-1.whl", "c-1.whl"])]
