from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from stacks.channel.staging import compiler
from stacks.channel.staging.debian import MULTIARCH
from stacks.core.errors import IntegrityError
from unit.helpers.archives import deb, member
from unit.helpers.staging import make_context, tree

EXTRA = {"stage": "compiler", "gcc": "10"}
GCC = f"usr/lib/gcc/{MULTIARCH}/10"


def stage(tmp_path: Path, *links: tuple[str, str]) -> Path:
    """Stage a compiler of empty files with links, and return its sysroot."""
    files = [f"usr/bin/{MULTIARCH}-g++-10", f"{GCC}/cc1plus", f"lib/{MULTIARCH}/libc.so.6"]
    files.append("usr/share/doc/liba/copyright")
    path = deb(
        tmp_path / "liba.deb",
        *[(member(f"./{name}"), b"") for name in files],
        *[(member(f"./{name}", tarfile.SYMTYPE, target), b"") for name, target in links],
    )
    source = [{"suite": "bullseye", "debs": ["liba"]}]
    context = make_context(tmp_path, EXTRA, source, {"liba": path})
    compiler.stage(context)
    return context.root / "lib/gxx-sysroot"


def test_absolute_links_lead_into_the_sysroot_and_broken_ones_are_removed(tmp_path: Path) -> None:
    library = f"usr/lib/{MULTIARCH}/libc.so"
    root = stage(
        tmp_path,
        (library, f"/lib/{MULTIARCH}/libc.so.6"),
        (f"usr/lib/{MULTIARCH}/liblto.so", "left-out"),
    )
    assert str((root / library).readlink()) == f"../../../lib/{MULTIARCH}/libc.so.6"
    assert not (root / f"usr/lib/{MULTIARCH}/liblto.so").is_symlink()


def test_nothing_outside_of_the_sysroot_is_removed(tmp_path: Path) -> None:
    """The stage removes lto1 from GCC's folder, which is a link here."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/lto1").touch()
    with pytest.raises(IntegrityError, match="outside of the folder"):
        stage(tmp_path, (f"usr/lib/{MULTIARCH}/evil", "../../../../../../../outside"))
    assert tree(tmp_path / "outside") == ["lto1"]


@pytest.mark.parametrize("template", [compiler.WRAPPER, compiler.TOOL])
def test_its_programs_run_where_the_path_has_only_their_own_folder(
    template: str, tmp_path: Path
) -> None:
    """PyTensor drops a compiler that fails without a word."""
    prefix = tmp_path / "a prefix"
    program = prefix / "lib/gxx-sysroot/usr/bin/real"
    wrapper = prefix / "bin/g++"
    for path, text in ((program, '#!/bin/sh\necho "$PATH $*"\n'), (wrapper, template)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{program}", "real"))
        path.chmod(0o755)
    output = subprocess.check_output(["g++", "x.c"], env={"PATH": f"{prefix}/bin"}, text=True)
    assert output.startswith(f"{prefix}/bin ") and " x.c" in f" {output}"
