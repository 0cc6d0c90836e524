"""Stages: how pinned sources become the files of a package."""

from __future__ import annotations

from collections.abc import Callable

from stacks.staging import amdlibm, compiled, compiler, cpython, libraries, openblas, wheel
from stacks.staging.work import Work

STAGES: dict[str, Callable[[Work], None]] = {
    "wheel": wheel.stage_wheel,
    "sdist": wheel.stage_sdist,
    "cpython": cpython.stage,
    "libraries": libraries.stage,
    "openblas-wheel": openblas.stage,
    "compiler": compiler.stage,
    "compiled": compiled.stage,
    "amdlibm": amdlibm.stage,
}
