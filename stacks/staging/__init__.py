"""Stages: how pinned sources become the files of a package."""

from __future__ import annotations

from collections.abc import Callable

from stacks.staging import (
    amdlibm,
    blis,
    compiled,
    compiler,
    cpython,
    debian_files,
    forwarding,
    front,
    libraries,
    openblas,
    pocl,
    relinked,
    thin_front,
    wheel,
    wheel_libraries,
)
from stacks.staging.work import Work

STAGES: dict[str, Callable[[Work], None]] = {
    "wheel": wheel.stage_wheel,
    "sdist": wheel.stage_sdist,
    "cpython": cpython.stage,
    "libraries": libraries.stage,
    "wheel-libraries": wheel_libraries.stage,
    "front-libraries": front.stage,
    "thin-front": thin_front.stage,
    "relinked-wheel": relinked.stage,
    "openblas-wheel": openblas.stage,
    "compiler": compiler.stage,
    "compiled": compiled.stage,
    "blis": blis.stage,
    "debian-files": debian_files.stage,
    "pocl": pocl.stage,
    "forwarding": forwarding.stage,
    "amdlibm": amdlibm.stage,
}
