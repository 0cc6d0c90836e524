"""A library under one name that stands for another one, which the host has to have.

libgpuarray asks for libcuda.so, a name that NVIDIA's driver has on some systems only; libcuda.so.1
it has on all. Where the one has nothing but the need of the other, whoever loads it and looks for a
function in it finds the other's.
"""

from __future__ import annotations

from stacks.channel.stages import Forwarding
from stacks.channel.staging.build_context import Work
from stacks.channel.staging.elf import PATCHELF
from stacks.core.process import call


def stage(work: Work) -> None:
    """Write the library to lib/."""
    extra = work.recipe.extra
    assert isinstance(extra, Forwarding)
    source = work.scratch / "empty.c"
    source.write_text("")
    (work.root / "lib").mkdir()
    library = work.root / "lib" / extra.library
    flags = ["-shared", "-nostdlib", "-s", "-Wl,--build-id=none", f"-Wl,-soname,{extra.library}"]
    call(
        [work.tools / "bin/gcc", *flags, source.name, "-o", library],
        cwd=work.scratch,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(work.scratch)},
    )
    call([PATCHELF, "--add-needed", extra.stands_for, library])
