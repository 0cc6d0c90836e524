"""What a recipe's `extra` says to each stage: how sources become the files of a package."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.core.models import Strict


class Wheel(Strict):
    """Unpack a wheel; see stacks/channel/staging/wheel.py."""

    stage: Literal["wheel"]
    site_packages: str = "site-packages"


class Sdist(Strict):
    """Copy a pure Python package out of a source archive; see stacks/channel/staging/wheel.py."""

    stage: Literal["sdist"]
    package: str
    distribution: str
    scripts: dict[str, str] = Field(default_factory=dict)


class PythonModules(Strict):
    """Copy Python modules of src/; see stacks/channel/staging/python_modules.py."""

    stage: Literal["python-modules"]


class CPython(Strict):
    """Make Debian's Python relocatable; see stacks/channel/staging/cpython.py."""

    stage: Literal["cpython"]
    libraries: tuple[str, ...] = Field(strict=False)


class Libraries(Strict):
    """Take shared libraries out of debs; see stacks/channel/staging/libraries.py."""

    stage: Literal["libraries"]
    libraries: tuple[str, ...] = Field(default=(), strict=False)
    links: dict[str, str] = Field(
        default={}, description="link in lib/: its target there, or in that of a required package"
    )


class FrontLibraries(Strict):
    """Reduce libraries of debs to some functions; see stacks/channel/staging/front_libraries.py."""

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
    links: dict[str, str] = Field(default_factory=dict)


class ThinFront(Strict):
    """Compile a library that leads to another one; see stacks/channel/staging/thin_front.py."""

    stage: Literal["thin-front"]
    library: str = Field(pattern=r"^lib[A-Za-z0-9_]+\.so\.[0-9]+$")
    serving: str = Field(description="the library that all else comes from")
    links: dict[str, str] = Field(default_factory=dict)


class Edit(Strict):
    """A text that stands once in a file of a wheel, and what replaces it."""

    file: str = Field(description="below site_packages")
    old: str
    new: str


class RelinkedWheel(Strict):
    """Unpack a wheel and link it to libblas; see stacks/channel/staging/relinked_wheel.py."""

    stage: Literal["relinked-wheel"]
    site_packages: str
    replaces: str = Field(description="the BLAS library that the wheel carries")
    leave_out: tuple[str, ...] = Field(
        default=(), strict=False, description="patterns below site_packages: the wheel's own tests"
    )
    edits: tuple[Edit, ...] = Field(
        default=(), strict=False, description="where the wheel does not fit a BLAS of today"
    )


class WheelLibraries(Strict):
    """Take shared libraries out of wheels; see stacks/channel/staging/wheel_libraries.py."""

    stage: Literal["wheel-libraries"]
    libraries: tuple[str, ...] = Field(strict=False)
    links: dict[str, str] = Field(default_factory=dict)


class OpenBLASWheel(Strict):
    """Take OpenBLAS out of SciPy's wheel; see stacks/channel/staging/openblas_wheel.py."""

    stage: Literal["openblas-wheel"]


class Compiler(Strict):
    """Relocate Debian's g++ with its sysroot; see stacks/channel/staging/compiler.py."""

    stage: Literal["compiler"]
    gcc: str


class Object(Strict):
    """One file to compile: its path below the sources, and its own flags."""

    file: str
    flags: tuple[str, ...] = Field(default=(), strict=False)


class Linked(Strict):
    """A shared library of the project's own sources."""

    library: str = Field(pattern=r"^lib[A-Za-z0-9_-]+\.so$")
    flags: tuple[str, ...] = Field(strict=False, description="of every object")
    objects: tuple[Object, ...] = Field(strict=False, min_length=1)
    libraries: tuple[str, ...] = Field(default=(), strict=False, description="linked, like m")


class Compiled(Linked):
    """Compile a library of the project's own: see stacks/channel/staging/compiled_library.py."""

    stage: Literal["compiled"]
    headers: tuple[str, ...] = Field(strict=False)
    licences: tuple[str, ...] = Field(strict=False, min_length=1)


class BLIS(Strict):
    """Give Debian's BLIS kernels of the project's own; see stacks/channel/staging/blis.py."""

    stage: Literal["blis"]
    build: str = Field(description="the folder of the debs that its library and header are in")
    library: str
    links: dict[str, str] = Field(default_factory=dict)
    kernels: Linked


class DebianFiles(Strict):
    """Copy files out of debs; see stacks/channel/staging/debian_files.py."""

    stage: Literal["debian-files"]
    files: dict[str, str] = Field(
        min_length=1, description="pattern of files or folders of the debs: folder of the prefix"
    )
    left_out: tuple[str, ...] = Field(
        default=(), strict=False, description="patterns of names that folders are copied without"
    )
    links: dict[str, str] = Field(default_factory=dict)
    search: tuple[str, ...] = Field(
        default=("lib",), strict=False, description="where they look for libraries, in order"
    )


class Replaced(Strict):
    """A function of a library, and its replacement: see staging/replaced_function.py."""

    function: str = Field(description="its name; src/NAME.s is what replaces it")
    room: int = Field(gt=0, description="bytes from its first to the next function's")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of those bytes")
    calls: dict[str, int] = Field(description="name in src/NAME.s: its address in the library")


class PoCL(Strict):
    """Take PoCL out of its wheel; see stacks/channel/staging/pocl.py."""

    stage: Literal["pocl"]
    gcc: str = Field(description="the version of the compiler package's GCC, as in its folders")
    replaced: Replaced | None = None


class Forwarding(Strict):
    """Make a library that stands for one of the host's: see staging/forwarding_library.py."""

    stage: Literal["forwarding"]
    library: str
    stands_for: str


class LocalTarball(Strict):
    """Package a file of the user's own; see stacks/environments/user_packages.py."""

    stage: Literal["amdlibm"]
    variable: str = Field(description="the environment variable that names the file")


Extra = Annotated[
    Wheel
    | Sdist
    | PythonModules
    | CPython
    | Libraries
    | WheelLibraries
    | FrontLibraries
    | ThinFront
    | RelinkedWheel
    | OpenBLASWheel
    | Compiler
    | Compiled
    | BLIS
    | DebianFiles
    | PoCL
    | Forwarding
    | LocalTarball,
    Field(discriminator="stage"),
]
