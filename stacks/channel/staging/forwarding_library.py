"""An empty library that needs a library of the host, under another name.

libgpuarray opens libcuda.so, a name that NVIDIA's driver has on some systems only; libcuda.so.1
it has on all. Who loads a library that only needs libcuda.so.1, and looks for a function in it,
finds that of libcuda.so.1.
"""

from __future__ import annotations

from stacks.channel.stages import Forwarding
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.compiled_library import gcc
from stacks.channel.staging.elf import PATCHELF
from stacks.channel.staging.own_files import copy_own_licences
from stacks.core.process import call


def stage(context: BuildContext) -> None:
    """Write the library to lib/, and the licence."""
    extra = context.recipe.extra
    assert isinstance(extra, Forwarding)
    source = context.scratch / "empty.c"
    source.write_text("")
    (context.root / "lib").mkdir()
    library = context.root / "lib" / extra.library
    flags = ["-shared", "-nostdlib", "-s", "-Wl,--build-id=none", f"-Wl,-soname,{extra.library}"]
    gcc(context, context.scratch, [*flags, source.name, "-o", library])
    call([PATCHELF, "--add-needed", extra.stands_for, library])
    copy_own_licences(context)
