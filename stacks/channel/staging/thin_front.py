"""A library's common name for another library, with a few functions of the project's own.

The functions are compiled with the channel's own compiler. All other functions, and those that
these call, are in the library that it needs.
"""

from __future__ import annotations

import shutil

from stacks.channel.stages import ThinFront
from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.compiled_library import gcc
from stacks.channel.staging.elf import PATCHELF, set_rpath
from stacks.channel.staging.own_files import copy_own_licences, own_code
from stacks.core.process import call

FLAGS = ("-O2", "-std=c99", "-fPIC", "-shared", "-s")
LIBRARIES = ("-Wl,--as-needed", "-ldl", "-lpthread")


def stage(context: BuildContext) -> None:
    """Write the library and the recipe's links to lib/."""
    extra = context.recipe.extra
    assert isinstance(extra, ThinFront)
    # Relative names only, so that the library does not record where it was made.
    for path in own_code(context):
        shutil.copyfile(path, context.scratch / path.name)
    names = [path.name for path in own_code(context) if path.suffix == ".c"]
    arguments = [*FLAGS, f'-DSERVING="{extra.serving[-1]}"', *names, "-o", extra.library]
    gcc(context, context.scratch, [*arguments, f"-Wl,-soname,{extra.library}", *LIBRARIES])
    folder = context.root / "lib"
    folder.mkdir()
    library = folder / extra.library
    shutil.copyfile(context.scratch / extra.library, library)
    library.chmod(0o755)
    for name in reversed(extra.serving):
        # patchelf puts it before those that the library has.
        call([PATCHELF, "--add-needed", name, library])
    set_rpath([library], folder)
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
    copy_own_licences(context)
