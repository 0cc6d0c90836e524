"""recipes/*/recipe.yaml: what a package of the channel is made of.

The keys follow the conda recipe format, with two differences: a source is a pin in
recipes/sources.lock instead of a URL, and `extra` says how the sources become the package's files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from stacks import yamlfile
from stacks.disk import REPOSITORY
from stacks.sources import SOURCE_PREFIX, DebPin, IndexPin, Pins

RECIPES = REPOSITORY / "recipes"
SOURCES_LOCK = RECIPES / "sources.lock"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Package(_Strict):
    """The name and version of the conda package."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    version: str = Field(pattern=r"^[0-9][0-9A-Za-z.]*$")


class Build(_Strict):
    """The build number, and whether the package serves every platform."""

    number: int = Field(default=0, ge=0)
    noarch: Literal["python"] | None = None
    label: str = Field(default="", pattern=r"^[a-z0-9]*$", description="begins the build string")
    variant: str = Field(
        default="",
        pattern=r"^[a-z0-9]*$",
        description="ends the build string, so that name=*=*variant asks for it",
    )


class Debs(_Strict):
    """Binary packages of one suite of Debian's archive."""

    suite: str
    debs: tuple[str, ...] = Field(strict=False, min_length=1)


class Archives(_Strict):
    """What Debian's source packages were made from: their makers' own source archives."""

    suite: str
    archives: tuple[str, ...] = Field(strict=False, min_length=1)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of their pins."""
        return tuple(SOURCE_PREFIX + name for name in self.archives)


class IndexFile(_Strict):
    """One file of the Python package index, by its name."""

    project: str
    version: str
    file: str


class Requirements(_Strict):
    """Conda match specs."""

    build: tuple[str, ...] = Field(
        default=(), strict=False, description="packages of the channel, by name, that make this one"
    )
    run: tuple[str, ...] = Field(default=(), strict=False)
    run_constraints: tuple[str, ...] = Field(default=(), strict=False)


class About(_Strict):
    """What people and tools want to know about the software."""

    homepage: str | None = None
    license: str
    summary: str


class Wheel(_Strict):
    """Unpack a wheel; see stacks/staging/wheel.py."""

    stage: Literal["wheel"]
    site_packages: str = "site-packages"


class Sdist(_Strict):
    """Copy a pure Python package out of a source archive; see stacks/staging/wheel.py."""

    stage: Literal["sdist"]
    package: str
    distribution: str
    scripts: dict[str, str] = {}


class CPython(_Strict):
    """Make Debian's Python relocatable; see stacks/staging/cpython.py."""

    stage: Literal["cpython"]
    libraries: tuple[str, ...] = Field(strict=False)


class Libraries(_Strict):
    """Take shared libraries out of debs; see stacks/staging/libraries.py."""

    stage: Literal["libraries"]
    libraries: tuple[str, ...] = Field(default=(), strict=False)
    links: dict[str, str] = Field(
        default={}, description="link in lib/: its target there, or in that of a required package"
    )


class FrontLibraries(_Strict):
    """Reduce libraries of debs to some functions; see stacks/staging/front.py."""

    stage: Literal["front-libraries"]
    functions: dict[str, dict[str, str]] = Field(
        description="library of a deb: the functions that it keeps, and the names that they get"
    )
    whole: tuple[str, ...] = Field(
        default=(), strict=False, description="libraries whose other functions stay, too"
    )
    serving: dict[str, tuple[str, ...]] = Field(
        strict=False, description="the same: the libraries that all else comes from, in order"
    )
    links: dict[str, str] = {}


class ThinFront(_Strict):
    """Compile a library that leads to another one; see stacks/staging/thin_front.py."""

    stage: Literal["thin-front"]
    library: str = Field(pattern=r"^lib[A-Za-z0-9_]+\.so\.[0-9]+$")
    serving: str = Field(description="the library that all else comes from")
    links: dict[str, str] = {}


class RelinkedWheel(_Strict):
    """Unpack a wheel and link it to libblas; see stacks/staging/relinked.py."""

    stage: Literal["relinked-wheel"]
    site_packages: str
    replaces: str = Field(description="the BLAS library that the wheel carries")
    leave_out: tuple[str, ...] = Field(
        default=(), strict=False, description="patterns below site_packages: the wheel's own tests"
    )


class WheelLibraries(_Strict):
    """Take shared libraries out of wheels; see stacks/staging/wheel_libraries.py."""

    stage: Literal["wheel-libraries"]
    libraries: tuple[str, ...] = Field(strict=False)
    links: dict[str, str] = {}


class OpenBLASWheel(_Strict):
    """Take OpenBLAS out of SciPy's wheel; see stacks/staging/openblas.py."""

    stage: Literal["openblas-wheel"]


class Compiler(_Strict):
    """Relocate Debian's g++ with its sysroot; see stacks/staging/compiler.py."""

    stage: Literal["compiler"]
    gcc: str


class Object(_Strict):
    """One file to compile: its path below the sources, and its own flags."""

    file: str
    flags: tuple[str, ...] = Field(default=(), strict=False)


class Compiled(_Strict):
    """Compile a shared library of the project's own; see stacks/staging/compiled.py."""

    stage: Literal["compiled"]
    library: str = Field(pattern=r"^lib[A-Za-z0-9_]+\.so$")
    headers: tuple[str, ...] = Field(strict=False)
    flags: tuple[str, ...] = Field(strict=False, description="of every object")
    objects: tuple[Object, ...] = Field(strict=False, min_length=1)
    libraries: tuple[str, ...] = Field(default=(), strict=False, description="linked, like m")
    licences: tuple[str, ...] = Field(strict=False, min_length=1)


class DebianFiles(_Strict):
    """Copy files out of debs; see stacks/staging/debian_files.py."""

    stage: Literal["debian-files"]
    files: dict[str, str] = Field(
        min_length=1, description="pattern of files or folders of the debs: folder of the prefix"
    )
    left_out: tuple[str, ...] = Field(
        default=(), strict=False, description="patterns of names that folders are copied without"
    )
    links: dict[str, str] = {}
    search: tuple[str, ...] = Field(
        default=("lib",), strict=False, description="where they look for libraries, in order"
    )


class PoCL(_Strict):
    """Take PoCL out of its wheel; see stacks/staging/pocl.py."""

    stage: Literal["pocl"]
    gcc: str = Field(description="the version of the compiler package's GCC, as in its folders")


class NvidiaWheel(_Strict):
    """Take shared libraries out of NVIDIA's wheels; see stacks/staging/nvidia.py."""

    stage: Literal["nvidia-wheel"]
    libraries: tuple[str, ...] = Field(strict=False)
    links: dict[str, str] = {}


class Forwarding(_Strict):
    """Make a library that stands for one of the host's; see stacks/staging/forwarding.py."""

    stage: Literal["forwarding"]
    library: str
    stands_for: str


class LocalTarball(_Strict):
    """Package a file of the user's own; see stacks/local.py."""

    stage: Literal["amdlibm"]
    variable: str = Field(description="the environment variable that names the file")


Extra = Annotated[
    Wheel
    | Sdist
    | CPython
    | Libraries
    | WheelLibraries
    | FrontLibraries
    | ThinFront
    | RelinkedWheel
    | OpenBLASWheel
    | Compiler
    | Compiled
    | DebianFiles
    | PoCL
    | NvidiaWheel
    | Forwarding
    | LocalTarball,
    Field(discriminator="stage"),
]


class Recipe(_Strict):
    """One package of the channel."""

    package: Package
    build: Build = Build()
    source: tuple[Debs | Archives | IndexFile, ...] = Field(default=(), strict=False)
    requirements: Requirements = Requirements()
    about: About
    extra: Extra

    @property
    def links_out(self) -> frozenset[str]:
        """The links in lib/ that lead to a file of a package that this one requires."""
        links: dict[str, str] = getattr(self.extra, "links", {})
        return frozenset(links)

    @property
    def subdir(self) -> str:
        """The channel folder that the package belongs to."""
        return "noarch" if self.build.noarch else "linux-64"

    def own_sources(self) -> tuple[Path, ...]:
        """Return the source files of the project's own that it is made of, sorted."""
        if not isinstance(self.extra, Compiled | ThinFront):
            return ()
        folder = RECIPES / self.package.name / "src"
        return tuple(sorted(path for path in folder.rglob("*") if path.is_file()))

    def pins(self, pins: Pins) -> tuple[DebPin | IndexPin, ...]:
        """Return the recipe's sources as pinned; UsageError where one is not in sources.lock."""
        found: list[DebPin | IndexPin] = []
        for source in self.source:
            if isinstance(source, Debs):
                found += [pins.deb(source.suite, name) for name in source.debs]
            elif isinstance(source, Archives):
                found += [pins.deb(source.suite, name) for name in source.names]
            else:
                found.append(pins.file(source.file))
        return tuple(found)


def read_recipes(folder: Path = RECIPES) -> dict[str, Recipe]:
    """Return every recipe by the name of its folder, sorted; UsageError where one is wrong."""
    return {
        path.parent.name: yamlfile.load(path, Recipe)
        for path in sorted(folder.glob("*/recipe.yaml"))
    }
