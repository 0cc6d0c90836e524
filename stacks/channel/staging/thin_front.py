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


def stage(context: BuildContext) -> None:
    """Write the library and the recipe's links to lib/."""
    extra = context.recipe.extra
    assert isinstance(extra, ThinFront)
    # Relative names only, so that the library does not record where it was made.
    names = [path.name for path in own_code(context)]
    for path in own_code(context):
        shutil.copyfile(path, context.scratch / path.name)
    soname = f"-Wl,-soname,{extra.library}"
    gcc(context, context.scratch, [*FLAGS, *names, "-o", extra.library, soname])
    folder = context.root / "lib"
    folder.mkdir()
    library = folder / extra.library
    shutil.copyfile(context.scratch / extra.library, library)
    library.chmod(0o755)
    call([PATCHELF, "--add-needed", extra.serving, library])
    set_rpath([library], folder)
    for link, target in extra.links.items():
        (folder / link).symlink_to(target)
    copy_own_licences(context)
