from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import pytest

from stacks.channel.staging import cpython
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.debian import MULTIARCH
from stacks.core.errors import IntegrityError
from unit.helpers.archives import deb, member
from unit.helpers.staging import make_context, tree


def test_pythons_build_time_variables_name_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "build_time_vars = {'CC': 'x86_64-linux-gnu-gcc -pthread', 'prefix': '/usr',\n"
        " 'LIBDIR': '/usr/lib', 'LIBPL': '/usr/lib/python3.9/config-3.9-x86_64-linux-gnu',\n"
        " 'CFLAGS': '-g -ffile-prefix-map=/build/python-1=. -O2', 'N': 1,\n"
        " 'CONFIG_ARGS': '--prefix=/usr --x', 'OTHER': '/opt/usr/lib /usr/local'}\n"
    )
    monkeypatch.setattr(sys, "base_prefix", "/a b")
    variables: dict[str, dict[str, object]] = {}
    exec(cpython._relocated(text), variables)
    assert variables["build_time_vars"] == {
        "CC": "gcc -pthread",
        "prefix": "/a b",
        "LIBDIR": "/a b/lib",
        "LIBPL": "/a b/lib/python3.9/config-3.9-x86_64-linux-gnu",
        "CFLAGS": "-g -O2",
        "N": 1,
        "CONFIG_ARGS": "--prefix=/a b --x",
        "OTHER": "/opt/usr/lib /usr/local",
    }


def test_a_frozen_name_that_does_not_occur_once_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "python3.11"
    names = (b"dist-packages\0", b"site-packages\0")
    path.write_bytes(b"dist-packages\0 dist-packages\0")
    with pytest.raises(IntegrityError, match=r"(?s)python3\.11 of the Python deb.*2 times"):
        cpython._edit_frozen(path, *names)
    path.write_bytes(b"a dist-packages\0")
    cpython._edit_frozen(path, *names)
    assert path.read_bytes() == b"a site-packages\0"
    with pytest.raises(IntegrityError, match="as many new ones"):
        cpython._edit_frozen(path, names[1], b"site\0")


EDIT = {"file": "pydoc.py", "old": "'dist-packages'", "new": "'site-packages'"}
LIBRARY = "usr/lib/python3.9"


def python_context(tmp_path: Path, *links: tuple[str, str]) -> BuildContext:
    """Return the context of a Python deb with the files that the stage reads, and with links."""
    files: dict[str, str] = {"usr/bin/python3.9": "", f"{LIBRARY}/lib-dynload/nis.so": ""}
    files["usr/share/doc/liba/copyright"] = "PSF"
    files |= {f"{LIBRARY}/site.py": "", f"{LIBRARY}/pydoc.py": EDIT["old"]}
    files["usr/include/python3.9/Python.h"] = ""
    files[f"usr/include/{MULTIARCH}/python3.9/pyconfig.h"] = "#define A"
    linked = {name for name, _ in links}
    path = deb(
        tmp_path / "liba.deb",
        *[
            (member(f"./{name}"), text.encode())
            for name, text in files.items()
            if not any(name.startswith(link) for link in linked)
        ],
        *[(member(f"./{name}", tarfile.SYMTYPE, target), b"") for name, target in links],
    )
    source = [{"suite": "bullseye", "debs": ["liba"]}]
    extra = {"stage": "cpython", "libraries": [], "edits": [EDIT]}
    context = make_context(tmp_path, extra, source, {"liba": path})
    package = context.recipe.package.model_copy(update={"version": "3.9.2"})
    recipe = context.recipe.model_copy(update={"package": package})
    return BuildContext(recipe, context.sources, context.root, context.scratch, context.tools)


def test_debians_own_modules_and_absolute_links_are_left_out(tmp_path: Path) -> None:
    links = [(f"{LIBRARY}/sitecustomize.py", "/etc/python3.9/sitecustomize.py")]
    context = python_context(tmp_path, *links, (f"{LIBRARY}/config", "../gone"))
    cpython.stage(context)
    names = tree(context.root)
    pydoc = context.root / "lib/python3.9/pydoc.py"
    assert pydoc.read_text() == EDIT["new"]
    assert "lib/python3.9/site.py" in names and "include/python3.9/pyconfig.h" in names
    assert not [
        name
        for name in names
        if "nis" in name
        or "sitecustom" in name
        or ("config" in name and "pyconfig" not in name and "sysconfig" not in name)
    ]


def test_modules_are_not_removed_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "nis.so").touch()
    for target in (str(outside), "../" * 5 + "outside", "../" * 6 + "outside"):
        folder = tmp_path / target.replace("/", "_")
        folder.mkdir()
        errors = []
        try:
            cpython.stage(python_context(folder, (f"{LIBRARY}/lib-dynload", target)))
        except IntegrityError as error:
            errors.append(str(error))
        assert tree(outside) == ["nis.so"]
        assert errors and "lib-dynload: " in errors[0] and "link" in errors[0]


def test_a_module_is_not_edited_through_a_link(tmp_path: Path) -> None:
    """In the deb the link leads to a file of the deb; in the package, out of the package."""
    outside = tmp_path / "pydoc.py"
    outside.write_text("'dist-packages'")
    with pytest.raises(IntegrityError, match=r"pydoc\.py: the link leads out of the package"):
        cpython.stage(python_context(tmp_path, (f"{LIBRARY}/pydoc.py", "../../../pydoc.py")))
    assert outside.read_text() == "'dist-packages'"
