"""The models of the files of envs/: flavours, frameworks and BLAS libraries."""

from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from stacks.core.models import (
    AsciiLine,
    Flag,
    Line,
    Name,
    Requirement,
    Setting,
    Spec,
    Strict,
    Variable,
)

# The flag for `libm: amdlibm` in Theano and PyTensor.
AMDLIBM_FLAG = "lib.amdlibm"
# The value of a flavour's `blas` for a framework without a BLAS of its own.
THROUGH_NUMPY = "numpy"

PythonPackages = Literal["pip", "conda"]
Libm = Literal["glibc", "amdlibm"]
Device = Literal["cpu", "opencl", "cuda"]
FloatX = Literal["float32", "float64"]
Names = tuple[Name, ...]
Specs = tuple[Spec, ...]
# Python 2.7 reads them from a file of ASCII characters.
Variables = dict[Variable, AsciiLine]


class FlavourFile(Strict):
    """How BLAS, libm and device are chosen.

    The flavour in `extends` comes first: mappings merge key by key, `packages` are added, and any
    other key here replaces that of the extended flavour.
    """

    summary: Line = Field(description="one line for lists, tables and file headers")
    extends: Line | SkipJsonSchema[None] = Field(None, description="the flavour to begin with")
    python_packages: PythonPackages | SkipJsonSchema[None] = Field(
        None, description="where numpy, scipy and the framework come from"
    )
    blas: Line | SkipJsonSchema[None] = Field(
        None,
        description="a file of envs/blas by its name, or numpy: the framework is linked to no "
        "BLAS and calls NumPy",
    )
    libm: Libm = Field("glibc", description="what computes exp, log and the like over arrays")
    device: Device = "cpu"
    floatX: FloatX = Field(  # noqa: N815 - the framework's own name for it
        "float64", description="the precision of the framework's default type"
    )
    flags: dict[Flag, Setting] = Field({}, description="more flags of the framework, section.name")
    environment: Variables = Field(
        {}, description="environment variables; {prefix} is the environment's folder"
    )
    packages: Specs = Field((), description="more conda packages, as match specs")
    frameworks: tuple[Line, ...] = Field(
        (), description="the frameworks that it supports; default: all"
    )
    baseline: bool = Field(
        False, description="the slow path is expected: ratios are relative to this one"
    )


class FrameworkFile(Strict):
    """Which Theano, or descendant of it, on which Python, with what."""

    summary: Line
    module: str = Field(pattern=r"^[a-z_][a-z0-9_]*$", description="what a program imports")
    version: str = Field(pattern=r"^[0-9][0-9A-Za-z.]*$")
    default: bool = Field(
        False, exclude=True, description="used if no framework is named; exactly one is the default"
    )
    python: str = Field(pattern=r"^[23]\.[0-9]+$", description="major and minor version")
    glibc: str = Field(
        "2.31",
        pattern=r"^2\.[0-9]+$",
        description="the oldest C library that its environments run on",
    )
    has_device: bool = Field(True, description="it has the flag `device`")
    # The default value is left out of the input of a lock's hash.
    amdlibm_flag: Flag = Field(
        AMDLIBM_FLAG,
        exclude_if=lambda name: name == AMDLIBM_FLAG,
        description="the flag that `libm: amdlibm` sets, section.name",
    )
    flags_variable: Variable = Field(description="environment variable that holds flags")
    rc_variable: Variable = Field(description="environment variable that names configuration files")
    base: Specs = Field(description="conda packages that every flavour gets")
    # Left out of a lock's hash where a framework has none.
    accelerator: Names = Field(
        (),
        exclude_if=lambda names: not names,
        description="packages of the project's channel, by name, that every flavour except the "
        "baseline gets: they shorten the framework's compilation",
    )
    packages: Specs = Field(description="conda packages of the flavours that take them from conda")
    pip: tuple[Requirement, ...] = Field(
        description="name==version of what pip flavours install, in this order"
    )
    constraints: tuple[Line, ...] = Field(
        (),
        exclude=True,
        description="of packages in a stack.yaml: versions that say that they fit, and do not",
    )


class CondaForge(Strict):
    """The names of a BLAS library's packages on conda-forge and compatible channels."""

    packages: Specs = Field(
        min_length=1, description="match specs of its conda packages: the library and its .so link"
    )
    ldflags: Setting = Field(description="the framework's blas.ldflags there")
    libraries: tuple[Line, ...] = Field(
        min_length=1, description="shell patterns; the file that serves the calls must match one"
    )
    environment: Variables = Field({}, description="environment variables that differ there")


class Processor(Strict):
    """Processors with the same features, and the variables that select fast kernels for them."""

    flags: tuple[AsciiLine, ...] = Field(
        min_length=1, description="flags of /proc/cpuinfo; they have all of them"
    )
    known: dict[AsciiLine, int] = Field(
        {},
        description="by vendor_id of /proc/cpuinfo: the newest cpu family for which the library "
        "selects fast kernels by itself",
    )
    environment: Variables = Field(
        min_length=1, description="environment variables, set on these unless already set"
    )


class BlasFile(Strict):
    """A BLAS library and the framework's settings for it."""

    summary: Line
    package: Spec = Field(description="the conda package, as a match spec")
    ldflags: Setting = Field(description="the framework's blas.ldflags")
    libraries: tuple[Line, ...] = Field(
        min_length=1, description="shell patterns; the file that serves the calls must match one"
    )
    threads: tuple[Variable, ...] = Field(
        (),
        description="the variables with the number of threads; if none is set, the first gets the "
        "number of usable processors where a container's quota allows fewer than there are",
    )
    one_thread: bool = Field(
        False, description="the library's default is one thread: the first variable is always set"
    )
    environment: Variables = Field({}, description="environment variables")
    processors: tuple[Processor, ...] = Field(
        (),
        description="processors for which it may select slow kernels though it has fast ones; the "
        "first that fits counts",
    )
    conda_forge: CondaForge | SkipJsonSchema[None] = Field(
        None, exclude=True, description="the differences of another channel's packages"
    )
