from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from stacks.channel.staging.wheel import SHEBANG, stage_sdist, unpack_wheel, write_script
from stacks.core.errors import IntegrityError
from unit.helpers.staging import WHEEL, make_context, tree


def wheel(folder: Path, files: dict[str, str], modes: dict[str, int] | None = None) -> Path:
    path = folder / WHEEL
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
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
        "a-1.dist-info/METADATA": "",
        "a/.libs/hidden.so": "",
    }
    found = unpack(wheel(tmp_path, names, {"a/.libs/hidden.so": 0o755}), tmp_path / "root")
    assert found == [
        "python-scripts/s",
        "share/r",
        "site-packages/a-1.dist-info/INSTALLER",
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
    with pytest.raises(IntegrityError, match="cannot be placed"):
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
        "site-packages/a-1.dist-info/INSTALLER",
        "site-packages/a-1.dist-info/entry_points.txt",
    ]


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
        "site-packages/A-1.dist-info/INSTALLER",
        "site-packages/A-1.dist-info/METADATA",
        "site-packages/a/__init__.py",
    ]
    assert (context.root / "python-scripts/t").read_text() == f"{SHEBANG}print(1)\n"
