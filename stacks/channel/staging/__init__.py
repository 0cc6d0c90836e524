"""Stages: classes that make the files of a package from its pinned sources."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stacks.channel.staging.binaries import PoCL, UserTarball
from stacks.channel.staging.compiled import BLIS, Compiled, Forwarding, ThinFront
from stacks.channel.staging.cpython_source import CPythonSource
from stacks.channel.staging.libraries import (
    DebianFiles,
    FrontLibraries,
    Libraries,
    OpenBLASWheel,
    WheelLibraries,
)
from stacks.channel.staging.programs import Compiler, CPython
from stacks.channel.staging.python_packages import EditedSdist, FortranWheel, PythonModules, Wheel
from stacks.channel.staging.relinked_wheel import RelinkedWheel
from stacks.channel.staging.stage import Texts

# A recipe's `extra`: its key `stage` chooses the class.
Extra = Annotated[
    Wheel | FortranWheel | RelinkedWheel
    | EditedSdist | PythonModules | Texts
    | CPython | CPythonSource | Compiler
    | Libraries | FrontLibraries | DebianFiles | WheelLibraries | OpenBLASWheel
    | Compiled | ThinFront | BLIS | Forwarding
    | PoCL | UserTarball,
    Field(discriminator="stage"),
]  # fmt: skip
