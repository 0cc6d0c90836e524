from __future__ import annotations

import csv
import io
import os
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from stacks.channel.staging.wheel import (
    SHEBANG,
    stage_sdist,
    stage_wheel,
    unpack_wheel,
    write_script,
)
from stacks.core.errors import IntegrityError
from unit.helpers.staging import METADATA, WHEEL, make_context, tree, wheel_context

SITE = "lib/python3.9/site-packages"


def wheel(
    folder: Path, files: Mapping[str, str | bytes], modes: dict[str, int] | None = None
) -> Path:
    path = folder / WHEEL
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {"a-1.dist-info/METADATA": METADATA, **files}.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (modes or {}).get(name, 0o644) << 16
            archive.writestr(info, text)
    return path


def unpack(path: Path, root: Path) -> list[str]:
    unpack_wheel(path, root, "site-packages", root / "python-scripts")
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir())


def test_each_kind_of_file_goes_to_its_folder(tmp_path: Path) -> None:
    names = {
        "a/__init__.py": "",
        "a-1.data/purelib/p.py": "",
        "a-1.data/platlib/q.so": "",
        "a-1.data/data/share/r": "",
        "a-1.data/scripts/s": "#!python\nprint(1)\n",
        "a/.libs/hidden.so": "",
    }
    found = unpack(wheel(tmp_path, names, {"a/.libs/hidden.so": 0o755}), tmp_path / "root")
    assert found == [
        "python-scripts/s",
        "share/r",
        "site-packages/a-1.dist-info/METADATA",
        "site-packages/a/.libs/hidden.so",
        "site-packages/a/__init__.py",
        "site-packages/p.py",
        "site-packages/q.so",
    ]
    script = tmp_path / "root/python-scripts/s"
    assert script.read_text() == f"{SHEBANG}print(1)\n"
    assert script.stat().st_mode & 0o111
    assert (tmp_path / "root/site-packages/a/.libs/hidden.so").stat().st_mode & 0o111
    assert not (tmp_path / "root/site-packages/p.py").stat().st_mode & 0o111


@pytest.mark.parametrize(
    "name",
    ["../x", "a/../../x", "/x", "a-1.data/purelib/../../x", "a-1.data/data//x",
     "a-1.data/headers/x.h", "a-1.data/scripts/../../x"],
)  # fmt: skip
def test_a_file_outside_of_the_package_is_refused(name: str, tmp_path: Path) -> None:
    path = wheel(tmp_path, {name: "evil"})
    with pytest.raises(IntegrityError, match=r"whl: .*(cannot be placed|outside of the fol)"):
        unpack(path, tmp_path / "deep/root")
    assert not list((tmp_path).rglob("x*"))


def test_entry_points_become_scripts(tmp_path: Path) -> None:
    text = "[console_scripts]\nrun = a.b:Program.main [extra]\nB=a:f\n[gui_scripts]\ng = a:g\n"
    found = unpack(wheel(tmp_path, {"a-1.dist-info/entry_points.txt": text}), tmp_path / "root")
    assert [name for name in found if "scripts" in name] == [
        "python-scripts/B",
        "python-scripts/run",
    ]
    body = (tmp_path / "root/python-scripts/run").read_text().removeprefix(SHEBANG)
    assert body == "import sys\n\nfrom a.b import Program\n\nsys.exit(Program.main())\n"


def test_other_entry_points_become_no_scripts(tmp_path: Path) -> None:
    files = {"a-1.dist-info/entry_points.txt": "[distutils.commands]\nx = a:f\n"}
    assert unpack(wheel(tmp_path, files), tmp_path / "root") == [
        "site-packages/a-1.dist-info/METADATA",
        "site-packages/a-1.dist-info/entry_points.txt",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "../../x = os:system",
        "OUTSIDE/x = os:system",
        "a/b = os:system",
        ".. = os:system",
        "a b = os:system",
        "x = os",
        "x = os:",
        "x = :system",
        "x = os:system()",
        "x = os;import evil:system",
        "x = a-b:f",
        "x = a:f\n  and = more",
        "x = os:system\n x",
        "x = class:f",
        "x = os:a..b",
        "x = \u00e9:f",
        "x",
        "x = a:f\nx = b:f",
    ],
)
def test_an_entry_point_that_is_no_name_of_a_function_is_refused(line: str, tmp_path: Path) -> None:
    text = line.replace("OUTSIDE", str(tmp_path))
    files = {"a-1.dist-info/entry_points.txt": f"[console_scripts]\n{text}\n"}
    with pytest.raises(IntegrityError, match=r"a-1-py3-none-any\.whl: an entry point cannot"):
        unpack(wheel(tmp_path, files), tmp_path / "deep/er/root")
    assert not [path for path in tmp_path.rglob("*") if path.name in ("x", "b", "scripts")]


@pytest.mark.parametrize("data", [b"[console_scripts]\n\xe9 = a:f\n", b"x = a:f\n", b"[a\n"])
def test_broken_entry_points_are_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=r"a-1-py3-none-any\.whl: an entry point cannot"):
        unpack(wheel(tmp_path, {"a-1.dist-info/entry_points.txt": data}), tmp_path / "root")


def test_an_entry_point_does_not_overwrite_a_script_of_the_wheel(tmp_path: Path) -> None:
    files = {
        "a-1.data/scripts/run": "",
        "a-1.dist-info/entry_points.txt": "[console_scripts]\nrun = a:f\n",
    }
    with pytest.raises(IntegrityError, match=r"a-1-py3-none-any\.whl: .* run would overwrite"):
        unpack(wheel(tmp_path, files), tmp_path / "root")


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "1", "a-1.data/purelib/a.py": "2"},
        {"a.py": "1", "a-1.data/data/site-packages/a.py": "2"},
        {"a-1.data/scripts/s": "1", "a-1.data/data/python-scripts/./s": "2"},
        {"a": "1", "a/b": "2"},
        {"a/b": "1", "a": "2"},
    ],
)
def test_a_member_in_the_place_of_another_is_refused(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=r"a-1-py3-none-any\.whl: cannot be unpacked safely"):
        unpack(wheel(tmp_path, files), tmp_path / "root")


def test_a_link_in_a_wheel_is_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path, {"a/l": "../../.."}, {"a/l": stat.S_IFLNK | 0o777})
    with pytest.raises(IntegrityError, match=r"whl: .*a/l: neither file nor folder"):
        unpack(path, tmp_path / "root")


@pytest.mark.parametrize(
    "files",
    [
        {"a-1.dist-info/METADATA": b"Name: \xe9\nVersion: 1\n"},
        {"a-1.dist-info/METADATA": "Name: a\n"},
        {"a-1.dist-info/METADATA": "Name: ../a\nVersion: 1\n"},
        {"a-1.dist-info/METADATA": "Name: a\nVersion: 1/../../x\n"},
    ],
)
def test_broken_metadata_is_refused(files: dict[str, str | bytes], tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match=r"a-1-py3-none-any\.whl: the package's metadata"):
        unpack(wheel(tmp_path, files), tmp_path / "root")


def test_a_wheel_has_one_dist_info(tmp_path: Path) -> None:
    path = wheel(tmp_path, {"b-1.dist-info/METADATA": METADATA})
    with pytest.raises(IntegrityError, match=r"(?s)one dist-info.*a-1.dist-info, b-1.dist-info"):
        unpack(path, tmp_path / "root")


def test_the_record_of_a_wheel_lists_all_installed_files(tmp_path: Path) -> None:
    files = {
        "a.py": "print()",
        "a-1.data/scripts/s": "#!python\n",
        "a-1.data/data/share/a, b": "",
        "a-1.dist-info/RECORD": "a.py,sha256=old,1\n",
        "a-1.dist-info/entry_points.txt": "[console_scripts]\nrun = a:f\n",
        "a/_vendor/b-1.dist-info/RECORD": "kept",
    }
    context = wheel_context(tmp_path, {"stage": "wheel", "site_packages": SITE}, files)
    stage_wheel(context)
    record = context.root / SITE / "a-1.dist-info/RECORD"
    rows = list(csv.reader(record.read_text(encoding="utf-8").splitlines()))
    listed = [os.path.normpath(context.root / SITE / name) for name, _, _ in rows]
    assert sorted(listed) == [str(context.root / name) for name in tree(context.root)]
    assert [row[0] for row in rows[:2]] == ["../../../bin/run", "../../../bin/s"]
    assert ["a.py", "sha256=Ul1RMxNBbPGH9E-ofhdT7m0RVSwiCXU33cMrTtNPpo8", "7"] in rows
    assert ["a-1.dist-info/RECORD", "", ""] in rows
    assert (context.root / SITE / "a/_vendor/b-1.dist-info/RECORD").read_text() == "kept"


def test_a_package_differs_from_its_wheel_in_the_dist_info_only(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a/__init__.py": "",
        "a/m.so": bytes(range(256)),
        "b.pth": "import a\n",
        "Some_A-1.dist-info/METADATA": METADATA.replace("Name: a", "Name: Some_A"),
        "Some_A-1.dist-info/RECORD": "a/__init__.py,,\n",
        "Some_A-1.dist-info/licenses/MIT": "MIT",
    }
    path = tmp_path / WHEEL
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    source = [{"project": "a", "version": "1", "file": WHEEL}]
    context = make_context(
        tmp_path, {"stage": "wheel", "site_packages": SITE}, source, {WHEEL: path}
    )
    stage_wheel(context)
    staged = {name: (context.root / name).read_bytes() for name in tree(context.root)}
    folder = f"{SITE}/some_a-1.dist-info"
    assert staged.pop(f"{folder}/INSTALLER") == b"conda\n"
    assert staged.pop(f"{folder}/RECORD").count(b"sha256=") == 6
    del files["Some_A-1.dist-info/RECORD"]
    assert staged == {
        f"{SITE}/{name.replace('Some_A', 'some_a')}": content.encode()
        if isinstance(content, str)
        else content
        for name, content in files.items()
    }


def test_a_script_runs_with_the_python_in_its_folder(tmp_path: Path) -> None:
    """The path has blanks and accented letters; the script is also run through a link."""
    folder = tmp_path / "a folder, é/bin"
    script = folder / "tool"
    write_script(script, "import sys; print(sys.argv[1:])\n")
    (folder / "python").symlink_to(sys.executable)
    (tmp_path / "link").symlink_to(script)
    for path in (script, tmp_path / "link"):
        assert subprocess.check_output([path, "a b", "c"], text=True) == "['a b', 'c']\n"


def test_a_package_is_copied_out_of_a_source_archive(tmp_path: Path) -> None:
    path = tmp_path / "A-1.tar.gz"
    files = ("a/__init__.py", "bin/tool", "PKG-INFO", "LICENSE.txt", "setup.py")
    with tarfile.open(path, "w:gz") as archive:
        for name in files:
            content = b"#!/usr/bin/env python\nprint(1)\n"
            if name == "PKG-INFO":
                content = b"Metadata-Version: 1.1\nName: A.b-C\nVersion: 1\n"
            info = tarfile.TarInfo(f"A-1/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    extra = {"stage": "sdist", "package": "a", "distribution": "A", "scripts": {"t": "bin/tool"}}
    source = [{"project": "a", "version": "1", "file": path.name}]
    context = make_context(tmp_path, extra, source, {path.name: path})
    stage_sdist(context)
    assert tree(context.root) == [
        "python-scripts/t",
        "share/licenses/a/LICENSE.txt",
        "site-packages/a/__init__.py",
        "site-packages/a_b_c-1.dist-info/INSTALLER",
        "site-packages/a_b_c-1.dist-info/METADATA",
        "site-packages/a_b_c-1.dist-info/RECORD",
    ]
    assert (context.root / "python-scripts/t").read_text() == f"{SHEBANG}print(1)\n"
