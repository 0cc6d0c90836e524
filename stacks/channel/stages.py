"""The options of each stage, as a recipe's `extra` gives them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.core.models import SHA256, FileName, Line, Name, RelativePath, Strict, Variable


class Wheel(Strict):
    """Unpack a wheel; see staging/wheel.py."""

    stage: Literal["wheel"]
    site_packages: RelativePath = "site-packages"


class FortranWheel(Strict):
    """Unpack a wheel without its copies of GCC's libraries; see staging/fortran_wheel.py."""

    stage: Literal["fortran-wheel"]
    site_packages: RelativePath


class Sdist(Strict):
    """Copy a pure Python package out of a source archive; see staging/wheel.py."""

    stage: Literal["sdist"]
    package: RelativePath
    distribution: FileName
    scripts: dict[FileName, RelativePath] = Field(default_factory=dict)


class Edit(Strict):
    """The replacement of a text that occurs once in a file of Python code."""

    file: RelativePath = Field(description="below the folder of packages, or of Python's library")
    old: str
    new: str


class EditedSdist(Sdist):
    """Copy a pure Python package and correct it; see staging/edited_sdist.py."""

    stage: Literal["edited-sdist"]  # type: ignore[assignment]
    edits: tuple[Edit, ...] = Field(min_length=1, strict=False)


class PythonModules(Strict):
    """Copy the recipe's own Python modules; see staging/python_modules.py."""

    stage: Literal["python-modules"]


class Texts(Strict):
    """Write texts; see staging/texts.py. stacks/channel/settings.py makes their recipes."""

    stage: Literal["texts"]
    files: dict[RelativePath, str]
    placeholder: Line = Field(description="what an installation replaces by its path in the texts")


class CPython(Strict):
    """Make Debian's Python relocatable; see staging/cpython.py."""

    stage: Literal["cpython"]
    libraries: tuple[RelativePath, ...] = Field(strict=False)
    edits: tuple[Edit, ...] = Field(strict=False, description="of the standard library")
    frozen: dict[Name, Name] = Field(
        default_factory=dict, description="name in the interpreter's frozen modules: its new name"
    )


class SourcePackage(Strict):
    """A source package of Debian's to compile; see staging/debian_source.py."""

    package: Name
    patches: tuple[RelativePath, ...] = Field(
        strict=False, description="patterns of Debian's patches to apply, in the series' order"
    )
    configure: tuple[Line, ...] = Field(strict=False, description="options of its configure script")


class CPythonSource(Strict):
    """Compile Debian's sources of Python and OpenSSL; see staging/cpython_source.py."""

    stage: Literal["cpython-source"]
    python: SourcePackage
    openssl: SourcePackage
    answers: dict[Variable, Line] = Field(
        description="answers for Python's configure script, which must not ask the host"
    )
    variables: dict[Variable, Line] = Field(
        description="environment variables of Python's configure script and makefile"
    )
    cpu_seconds: int = Field(
        exclude=True, description="CPU time that compiling took where it was measured, to print"
    )
    tools: tuple[Name, ...] = Field(
        strict=False, description="debs whose programs build it; nothing of them is in the package"
    )
    leave_out: tuple[RelativePath, ...] = Field(
        strict=False, description="files and folders of the standard library"
    )
    libraries: tuple[RelativePath, ...] = Field(strict=False)


class Libraries(Strict):
    """Take shared libraries out of debs; see staging/libraries.py."""

    stage: Literal["libraries"]
    libraries: tuple[RelativePath, ...] = Field(default=(), strict=False)
    links: dict[FileName, RelativePath] = Field(
        default={}, description="link in lib/: its target there, or in that of a required package"
    )


class FrontLibraries(Strict):
    """Hide all but some functions of debs' libraries; see staging/front_libraries.py."""

    stage: Literal["front-libraries"]
    functions: dict[RelativePath, dict[Variable, Variable]] = Field(
        description="library of a deb: its remaining functions, and their new names"
    )
    whole: tuple[RelativePath, ...] = Field(
        default=(), strict=False, description="libraries whose other functions remain, too"
    )
    serving: dict[RelativePath, tuple[FileName, ...]] = Field(
        strict=False,
        description="library of a deb: the libraries with all other functions, in order",
    )
    links: dict[FileName, RelativePath] = Field(default_factory=dict)


class ThinFront(Strict):
    """Compile a library in front of another one; see staging/thin_front.py."""

    stage: Literal["thin-front"]
    library: str = Field(pattern=r"^lib[A-Za-z0-9_]+\.so\.[0-9]+$")
    serving: tuple[FileName, ...] = Field(
        min_length=1, description="the libraries with all other functions, in order"
    )
    links: dict[FileName, RelativePath] = Field(default_factory=dict)


class RelinkedWheel(Strict):
    """Unpack a wheel and link it to libblas; see staging/relinked_wheel.py."""

    stage: Literal["relinked-wheel"]
    site_packages: RelativePath
    replaces: FileName = Field(description="the BLAS library in the wheel")
    library: FileName = Field(
        default="libblas.so.3", description="the library that its modules need in place of that"
    )
    prefix: str = Field(
        default="",
        pattern=r"^[a-z_]*$",
        description="what the names of that library begin with, and lose",
    )
    leave_out: tuple[RelativePath, ...] = Field(
        default=(), strict=False, description="patterns below site_packages: the wheel's own tests"
    )
    edits: tuple[Edit, ...] = Field(
        default=(), strict=False, description="corrections for a current BLAS"
    )
    licences: tuple[FileName, ...] = Field(
        default=(), strict=False, description="files of src/: licences that the wheel lacks"
    )


class WheelLibraries(Strict):
    """Take shared libraries out of wheels; see staging/wheel_libraries.py."""

    stage: Literal["wheel-libraries"]
    libraries: tuple[RelativePath, ...] = Field(strict=False)
    links: dict[FileName, RelativePath] = Field(default_factory=dict)


class OpenBLASWheel(Strict):
    """Take OpenBLAS out of SciPy's wheel; see staging/openblas_wheel.py."""

    stage: Literal["openblas-wheel"]


class Compiler(Strict):
    """Relocate Debian's g++ with its sysroot; see staging/compiler.py."""

    stage: Literal["compiler"]
    gcc: FileName


class Object(Strict):
    """A file to compile: its path in the sources, and its own flags."""

    file: RelativePath
    flags: tuple[Line, ...] = Field(default=(), strict=False)


class Linked(Strict):
    """How to compile and link a shared library."""

    library: str = Field(pattern=r"^lib[A-Za-z0-9_-]+\.so$")
    flags: tuple[Line, ...] = Field(strict=False, description="of every object")
    objects: tuple[Object, ...] = Field(strict=False, min_length=1)
    libraries: tuple[FileName, ...] = Field(
        default=(), strict=False, description="libraries to link with, without lib: m"
    )


class Compiled(Linked):
    """Compile a library of the project's own; see staging/compiled_library.py."""

    stage: Literal["compiled"]
    headers: tuple[RelativePath, ...] = Field(strict=False)
    licences: tuple[RelativePath, ...] = Field(strict=False, min_length=1)


class BLIS(Strict):
    """Add the project's kernels to Debian's BLIS; see staging/blis.py."""

    stage: Literal["blis"]
    build: RelativePath = Field(description="the folder of its library and header in the debs")
    library: FileName
    links: dict[FileName, RelativePath] = Field(default_factory=dict)
    kernels: Linked


class DebianFiles(Strict):
    """Copy files of debs; see staging/debian_files.py."""

    stage: Literal["debian-files"]
    files: dict[RelativePath, RelativePath] = Field(
        min_length=1, description="pattern of files or folders of the debs: folder of the prefix"
    )
    left_out: tuple[RelativePath, ...] = Field(
        default=(), strict=False, description="patterns of file names to leave out of folders"
    )
    links: dict[FileName, RelativePath] = Field(default_factory=dict)
    search: tuple[RelativePath, ...] = Field(
        default=("lib",),
        strict=False,
        description="folders of the prefix for their RPATH, in order",
    )


class Replaced(Strict):
    """The replacement of a function of a library; see staging/replaced_function.py."""

    function: Variable = Field(description="its name; src/NAME.s replaces it")
    room: int = Field(gt=0, description="bytes from its start to the next function")
    sha256: str = Field(pattern=SHA256, description="of those bytes")
    calls: dict[Variable, int] = Field(description="name in src/NAME.s: its address in the library")


class PoCL(Strict):
    """Take PoCL out of its wheel; see staging/pocl.py."""

    stage: Literal["pocl"]
    gcc: FileName = Field(
        description="the version of the compiler package's GCC, as in its folders"
    )
    replaced: Replaced | None = None


class Forwarding(Strict):
    """Make a library that needs one of the host's; see staging/forwarding_library.py."""

    stage: Literal["forwarding"]
    library: FileName
    stands_for: FileName


class UserTarball(Strict):
    """Package an archive that only the user has; see stacks/environments/make/user_packages.py."""

    stage: Literal["amdlibm"]
    variable: Variable = Field(description="the environment variable that names the file")


Extra = Annotated[
    Wheel
    | FortranWheel
    | Sdist
    | EditedSdist
    | PythonModules
    | Texts
    | CPython
    | CPythonSource
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
    | UserTarball,
    Field(discriminator="stage"),
]
