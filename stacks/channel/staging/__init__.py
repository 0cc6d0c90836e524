"""Stages: functions that make the files of a package from its pinned sources."""

from __future__ import annotations

from collections.abc import Callable

from stacks.channel.staging import (
    amdlibm,
    blis,
    compiled_library,
    compiler,
    cpython,
    cpython_source,
    debian_files,
    edited_sdist,
    fortran_wheel,
    forwarding_library,
    front_libraries,
    libraries,
    openblas_wheel,
    pocl,
    python_modules,
    relinked_wheel,
    texts,
    thin_front,
    wheel,
    wheel_libraries,
)
from stacks.channel.staging.build_context import BuildContext

STAGES: dict[str, Callable[[BuildContext], None]] = {
    "wheel": wheel.stage_wheel,
    "fortran-wheel": fortran_wheel.stage,
    "sdist": wheel.stage_sdist,
    "edited-sdist": edited_sdist.stage,
    "python-modules": python_modules.stage,
    "texts": texts.stage,
    "cpython": cpython.stage,
    "cpython-source": cpython_source.stage,
    "libraries": libraries.stage,
    "wheel-libraries": wheel_libraries.stage,
    "front-libraries": front_libraries.stage,
    "thin-front": thin_front.stage,
    "relinked-wheel": relinked_wheel.stage,
    "openblas-wheel": openblas_wheel.stage,
    "compiler": compiler.stage,
    "compiled": compiled_library.stage,
    "blis": blis.stage,
    "debian-files": debian_files.stage,
    "pocl": pocl.stage,
    "forwarding": forwarding_library.stage,
    "amdlibm": amdlibm.stage,
}
