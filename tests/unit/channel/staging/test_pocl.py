from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.staging import pocl
from stacks.core.errors import IntegrityError
from unit.helpers.staging import wheel_context

POCL = {"stage": "pocl", "gcc": "10"}
DATA = "pocl_binary_distribution/.libs/share/pocl"


def test_pocl_is_registered_and_has_a_linker_with_the_compilers_sysroot(tmp_path: Path) -> None:
    files = {"pyopencl/.libs/libpocl-1.so": "", f"{DATA}/licenses/POCL.COPYING": "MIT"}
    context = wheel_context(tmp_path, POCL, files)
    pocl.stage(context)
    assert (context.root / "etc/OpenCL/vendors/pocl.icd").read_text() == "libpocl-1.so\n"
    assert (context.root / "lib/pocl/pyopencl/.libs/libpocl-1.so").stat().st_mode & 0o111
    assert (context.root / "share/licenses/a/POCL.COPYING").is_file()
    record = (context.root / "lib/pocl/a-1.dist-info/RECORD").read_text()
    assert "\n../../etc/OpenCL/vendors/pocl.icd,sha256=" in record
    linker = context.root / "bin/x86_64-unknown-linux-gnu-ld"
    assert linker.stat().st_mode & 0o111
    assert '--sysroot="$sysroot"' in linker.read_text()
    assert "gcc/x86_64-linux-gnu/10" in linker.read_text()


def test_a_wheel_with_another_layout_is_refused(tmp_path: Path) -> None:
    context = wheel_context(tmp_path, POCL, {"pyopencl/.libs/libpocl-1.so": ""})
    with pytest.raises(IntegrityError, match="has another layout"):
        pocl.stage(context)
