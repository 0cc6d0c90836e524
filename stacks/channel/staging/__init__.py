"""Stages: functions that make the files of a package from its pinned sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Stage:
    """A stage: the function that writes the files, and its revision.

    revision: raised by one when the function's output changes on purpose. It is in the names of the
    packages, which the code is not.
    """

    write: Callable[[BuildContext], None]
    revision: int = 1


STAGES: dict[str, Stage] = {
    "wheel": Stage(wheel.stage_wheel),
    "fortran-wheel": Stage(fortran_wheel.stage),
    "sdist": Stage(wheel.stage_sdist),
    "edited-sdist": Stage(edited_sdist.stage),
    "python-modules": Stage(python_modules.stage),
    "texts": Stage(texts.stage),
    "cpython": Stage(cpython.stage),
    "cpython-source": Stage(cpython_source.stage),
    "libraries": Stage(libraries.stage),
    "wheel-libraries": Stage(wheel_libraries.stage),
    "front-libraries": Stage(front_libraries.stage),
    "thin-front": Stage(thin_front.stage),
    "relinked-wheel": Stage(relinked_wheel.stage),
    "openblas-wheel": Stage(openblas_wheel.stage),
    "compiler": Stage(compiler.stage),
    "compiled": Stage(compiled_library.stage),
    "blis": Stage(blis.stage),
    "debian-files": Stage(debian_files.stage),
    "pocl": Stage(pocl.stage),
    "forwarding": Stage(forwarding_library.stage),
    "amdlibm": Stage(amdlibm.stage),
}
