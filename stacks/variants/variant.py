"""Variants: a flavour (how BLAS, libm and device are chosen) on a framework.

envs/variants/NAME.yaml     flavours, which may extend each other
envs/frameworks/NAME.yaml   which Theano on which Python, with what
envs/blas/NAME.yaml         a BLAS library, and how Theano reaches it
PATH/stack.yaml             a flavour with packages of one's own; see stacks/variants/stack.py
"""

import re
from pathlib import Path, PurePath
from typing import Any

from pydantic import Field

from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.models import IN_WORDS, NAME, Strict
from stacks.core.process import quoted
from stacks.variants import stack
from stacks.variants.files import (
    BlasFile,
    Device,
    FloatX,
    FrameworkFile,
    Libm,
    PythonPackages,
    Specs,
)

# The package in locks for `libm: amdlibm`: AMD's own must not be redistributed.
AMDLIBM = "amdlibm-compat"

# Packages that a framework's `accelerator` may name: what is in force from `import theano` on, and
# the fix of scan's gradient that a program imports.
ACCELERATOR = "theano-stacks"
SCAN_FIX = "theano-stacks-scan"

# The projects of all frameworks, of other versions too: an environment has one of them.
FRAMEWORKS = frozenset(["theano", "theano-pymc", "aesara", "pytensor"])

# Their names in the framework's flag `device`.
DEVICES = {"cpu": "cpu", "opencl": "opencl0:0", "cuda": "cuda"}


class Framework(FrameworkFile):
    """A framework with its name."""

    name: str

    @property
    def project(self) -> str:
        """The name of its package, `theano-pymc`."""
        return self.name.removesuffix(f"-{self.version}")

    @property
    def others(self) -> frozenset[str]:
        """The packages of the other frameworks."""
        return FRAMEWORKS - {self.project}


class Blas(BlasFile):
    """A BLAS library with its name."""

    name: str


class Variant(Strict):
    """A flavour on a framework, resolved."""

    name: str
    summary: str
    framework: Framework
    blas: Blas | None
    python_packages: PythonPackages
    libm: Libm
    device: Device
    floatX: FloatX  # noqa: N815
    flags: dict[str, str]
    # Environment variables.
    variables: dict[str, str]
    packages: Specs
    baseline: bool
    # The label of its packages' channel, `conda-forge` in `mkl@conda-forge`; empty for the
    # project's own. The lock has the channel's address.
    channel: str = Field("", exclude=True)
    # Tells its settings package from those of other variants; a stack.yaml that changes no setting
    # has its flavour's.
    settings_label: str = Field("", exclude=True)
    # Of a stack.yaml: the file, what it says beside `pip:` (no summary), and the packages of one's
    # own, as pip takes them.
    file: Path | None = Field(None, exclude=True)
    declared: dict[str, Any] = Field({}, exclude=True)
    requests: tuple[str, ...] = Field((), exclude_if=lambda requests: not requests)

    @property
    def id(self) -> str:
        """The name among all variants, `theano-1.0.5/pip-openblas`."""
        return f"{self.framework.name}/{self.name}"

    @property
    def shown_file(self) -> str:
        """The path of its stack.yaml for messages, empty for a flavour."""
        return display_path(self.file) if self.file else ""

    @property
    def option(self) -> str:
        """The option of a command that names it, as short as it can be, quoted for a shell."""
        if self.file:
            folder = display_path(self.file.parent)
            # A word without a slash could be a flavour's name.
            is_clear = self.file.name == stack.NAME and "/" in folder
            return f"--variant {quoted([folder if is_clear else display_path(self.file)])}"
        return f"--variant {self.name if self.framework.default else self.id}"

    def exported(self, prefix: PurePath) -> dict[str, str]:
        """Return the variables of its stack.yaml that every program gets in an environment there.

        Python sets them at its start, with those of the flavour, and alone chooses a folder that
        can be written below the environment's var.
        """
        own = self.declared.get("environment", {}).items()
        return {
            name: value.replace("{prefix}", str(prefix))
            for name, value in own
            if not value.startswith("{prefix}/var/")
        }

    @property
    def one_blas(self) -> bool:
        """Whether the framework, NumPy and SciPy use one BLAS: all are linked to libblas."""
        return self.python_packages == "conda" and bool(self.blas)

    @property
    def accelerator(self) -> Specs:
        """The names of its framework's accelerator packages; the baseline has none."""
        return () if self.baseline else self.framework.accelerator

    @property
    def settings_package(self) -> str:
        """The name of the conda package with its settings."""
        return f"{self.framework.name.removesuffix(f'-{self.framework.version}')}-settings"

    @property
    def channels_own_specs(self) -> Specs:
        """The match specs of packages that only this project's channel has.

        For another channel's environments, see `unlocked` in stacks/environments/folders.py.
        """
        version = self.framework.version
        return (*self.accelerator, f"{self.settings_package}={version}=*_0_{self.settings_label}")

    def linked_specs(self) -> Specs:
        """Return the match specs of what its settings name or are read by, sorted."""
        own = self.framework.packages if self.python_packages == "conda" else ()
        blas = (self.blas.package,) if self.blas else ()
        if self.blas and not self.channel:
            blas = (*blas, f"blas-threads=*=*{self.blas.name}")
        if self.blas and self.one_blas:
            blas = (*blas, f"libblas=*=*{self.blas.name}")
        libm = (AMDLIBM,) if self.libm == "amdlibm" else ()
        return tuple(sorted({f"python {self.framework.python}.*", *own, *blas, *libm}))

    def conda_specs(self) -> Specs:
        """Return the match specs of all requested conda packages, sorted."""
        channels_own = () if self.channel else self.channels_own_specs
        requested = {*self.framework.base, *channels_own, *self.packages}
        return tuple(sorted(requested.union(self.linked_specs())))

    def pip_requirements(self) -> tuple[str, ...]:
        """Return `name==version` of what pip installs, in order; empty for conda flavours."""
        return self.framework.pip if self.python_packages == "pip" else ()

    def theano_flags(self) -> dict[str, str]:
        """Return the framework's flags, `section.name` to value; the flavour's flags win."""
        amdlibm = {self.framework.amdlibm_flag: "True"} if self.libm == "amdlibm" else {}
        device = {"device": DEVICES[self.device]} if self.framework.has_device else {}
        return {
            "floatX": self.floatX,
            **device,
            # Empty for the baseline: it must not find a library of the machine.
            "blas.ldflags": self.blas.ldflags if self.blas else "",
            **amdlibm,
            **self.flags,
        }


def check_name(name: str, what: str) -> None:
    """Raise UsageError unless a name is valid: it becomes a part of paths and commands."""
    if not re.fullmatch(NAME, name):
        raise UsageError(f"{what} is not valid", expected=IN_WORDS[NAME], found=repr(name))


def on_other_channel(variant: Variant, channel: str) -> Variant:
    """Return a variant with another channel's packages: `mkl` becomes `mkl@channel`.

    Raises UsageError for a variant that needs a package of this project's channel.
    """
    check_name(channel, f"{variant.name}@{channel}: the name of a channel")
    if variant.libm == "amdlibm":
        raise UsageError(
            f"{variant.id} is not available with another channel's packages",
            found="`libm: amdlibm`: only this project's channel has that library",
            fix="use the flavour without it, which this one extends",
        )
    changes: dict[str, object] = {"name": f"{variant.name}@{channel}", "channel": channel}
    if variant.blas and (other := variant.blas.conda_forge):
        library, *more = other.packages
        changes |= {
            "blas": variant.blas.model_copy(
                update={
                    "package": library,
                    "ldflags": other.ldflags,
                    "libraries": other.libraries,
                    # Another version, which may support other processors.
                    "processors": (),
                }
            ),
            "packages": (*variant.packages, *more),
            "variables": {**variant.variables, **other.environment},
        }
    return variant.model_copy(update=changes)
