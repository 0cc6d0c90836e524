"""What the files of envs/ may say: flavours, frameworks and BLAS libraries."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from stacks.core.models import Strict

# The flag that turns `libm: amdlibm` on, as Theano and PyTensor spell it.
AMDLIBM_FLAG = "lib.amdlibm"
# The value of a flavour's `blas` that leaves Theano without a BLAS of its own.
THROUGH_NUMPY = "numpy"

PythonPackages = Literal["pip", "conda"]
Libm = Literal["glibc", "amdlibm"]
Device = Literal["cpu", "opencl", "cuda"]
FloatX = Literal["float32", "float64"]
Specs = tuple[str, ...]


class FlavourFile(Strict):
    """How BLAS, libm and device are chosen.

    What `extends` names comes first: mappings merge key by key, `packages` are added, and any
    other key that is given here replaces what it had there.
    """

    summary: str = Field(description="one line for people: lists, tables, file headers")
    extends: str | SkipJsonSchema[None] = Field(None, description="the flavour to begin with")
    python_packages: PythonPackages | SkipJsonSchema[None] = Field(
        None, description="where numpy, scipy and the framework come from"
    )
    blas: str | SkipJsonSchema[None] = Field(
        None,
        description="a file of envs/blas by its name, or numpy: the framework gets no BLAS of its "
        "own and goes through NumPy",
    )
    libm: Libm = Field("glibc", description="what computes exp, log and the like over arrays")
    device: Device = "cpu"
    floatX: FloatX = Field(  # noqa: N815 - the framework's own name for it
        "float64", description="the precision of the framework's default type"
    )
    flags: dict[str, str] = Field({}, description="more flags of the framework, section.name")
    environment: dict[str, str] = Field(
        {}, description="environment variables; {prefix} is the environment's own folder"
    )
    packages: Specs = Field((), description="more conda packages, as match specs")
    frameworks: Specs = Field((), description="the frameworks it is made for; all if left out")
    baseline: bool = Field(
        False, description="the slow path is what is expected: ratios are against this one"
    )


class FrameworkFile(Strict):
    """Which Theano, or descendant of it, on which Python, with what."""

    summary: str
    module: str = Field(pattern=r"^[a-z_][a-z0-9_]*$", description="what a program imports")
    version: str
    default: bool = Field(
        False, exclude=True, description="taken where no framework is asked for: exactly one is"
    )
    python: str = Field(pattern=r"^[23]\.[0-9]+$", description="major and minor version")
    glibc: str = Field(
        "2.31",
        pattern=r"^2\.[0-9]+$",
        description="the oldest C library that its environments are solved for",
    )
    has_device: bool = Field(True, description="it has the flag `device`")
    # Left out of what a lock's hash is made from where it says nothing new.
    amdlibm_flag: str = Field(
        AMDLIBM_FLAG,
        exclude_if=lambda name: name == AMDLIBM_FLAG,
        description="the flag that `libm: amdlibm` sets, section.name",
    )
    libblas: bool = Field(
        False,
        description="NumPy and SciPy of its conda flavours are linked to the package libblas",
    )
    flags_variable: str = Field(description="environment variable that holds flags")
    rc_variable: str = Field(description="environment variable that names configuration files")
    base: Specs = Field(description="conda packages that every flavour gets")
    # Left out of a lock's hash where a framework has none.
    accelerator: Specs = Field(
        (),
        exclude_if=lambda names: not names,
        description="packages of the project's own channel, by name, that every flavour but the "
        "baseline gets: they shorten the framework's compilation",
    )
    packages: Specs = Field(description="conda packages of the flavours that take them from conda")
    pip: tuple[str, ...] = Field(
        description="name==version of what pip flavours install, in this order"
    )


class CondaForge(Strict):
    """What a BLAS library is called on conda-forge, and on channels of the same names."""

    packages: Specs = Field(
        min_length=1, description="match specs of its conda packages: the library and its .so link"
    )
    environment: dict[str, str] = Field(
        {}, description="environment variables that are other ones there"
    )


class Processor(Strict):
    """A processor that a library does not know, and what gives it the kernels that fit."""

    vendor: str = Field(description="vendor_id of /proc/cpuinfo")
    family: int = Field(description="cpu family of /proc/cpuinfo")
    flags: Specs = Field(min_length=1, description="flags of /proc/cpuinfo, all of which it has")
    environment: dict[str, str] = Field(
        min_length=1, description="environment variables, set there unless they are set already"
    )


class BlasFile(Strict):
    """A BLAS library, and how the framework reaches it."""

    summary: str
    package: str = Field(description="the conda package, as a match spec")
    ldflags: str = Field(description="the framework's blas.ldflags")
    libraries: tuple[str, ...] = Field(
        min_length=1, description="shell patterns; the file that serves the calls must match one"
    )
    threads: tuple[str, ...] = Field(
        (),
        description="for a library that takes one thread where it is not told: variables that tell "
        "it; the first is set to the number of usable cores where none of them is set",
    )
    environment: dict[str, str] = Field({}, description="environment variables")
    processors: tuple[Processor, ...] = Field(
        (), description="processors for which it has fast kernels, but takes slow ones by itself"
    )
    conda_forge: CondaForge | SkipJsonSchema[None] = Field(
        None, exclude=True, description="what is different in packages of another channel"
    )
