from __future__ import annotations

import base64
import csv
import hashlib
from pathlib import Path

import pytest

from stacks.channel.staging.python_packages import SHEBANG
from stacks.core.errors import IntegrityError
from stacks.environments.make import pip_install

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
    (prefix / "bin/b").write_text("#!/usr/bin/python\n")
    scripts = pip_install._make_relocatable(prefix, [*names, "bin/b"], [prefix])
    assert scripts == {"bin/a"}
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
