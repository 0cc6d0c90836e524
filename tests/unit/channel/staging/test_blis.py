from __future__ import annotations

from pathlib import Path

from stacks.channel.staging import blis
from stacks.channel.staging.debian import MULTIARCH
from stacks.channel.staging.elf import needed
from unit.helpers.staging import deb_context, elf_library, tree, write_gcc

EXTRA = {
    "stage": "blis",
    "build": "blis-openmp",
    "library": "libblis.so.4",
    "links": {"libblis.so": "libblis.so.4"},
    "kernels": {"library": "libkernels.so", "flags": ["-O2"], "objects": [{"file": "k.c"}]},
}
FILES = {
    f"usr/lib/{MULTIARCH}/blis-openmp/libblis.so.4": elf_library(),
    f"usr/include/{MULTIARCH}/blis-openmp/blis.h": b"",
    "usr/share/doc/liba/copyright": b"BSD",
}


def test_blis_needs_the_kernels_and_the_kernels_do_not_need_blis(tmp_path: Path) -> None:
    context = deb_context(tmp_path, EXTRA, FILES)
    write_gcc(context)
    blis.stage(context)
    assert tree(context.root) == [
        "lib/libblis.so",
        "lib/libblis.so.4",
        "lib/libkernels.so",
        "share/licenses/a/liba.copyright",
    ]
    assert needed(context.root / "lib/libblis.so.4")[0] == "libkernels.so"
    assert "libblis.so.4" not in needed(context.root / "lib/libkernels.so")
