"""Causes that lie in files, libraries, the compiler or the machine: causes.py calls these.

Each function takes the match of its row and the Facts, and returns a Cause, or None where this
machine does not agree with it.
"""

from __future__ import absolute_import, division, print_function

import os
import re

from verify.core import packages, pythons
from verify.core.cause import Cause
from verify.core.config_files import flags_of
from verify.core.text import matching

# Libraries of the system: (the beginning of the file's name, Debian's package, Fedora's, conda's).
SYSTEM = (
    ("libgomp", "libgomp1", "libgomp", "libgomp"),
    ("libgfortran", "libgfortran5", "libgfortran", "libgfortran5"),
    ("libquadmath", "libquadmath0", "libquadmath", "libgfortran5"),
    ("libstdc++", "libstdc++6", "libstdc++", "libstdcxx-ng"),
    ("libgcc_s", "libgcc-s1", "libgcc", "libgcc-ng"),
    ("libopenblas", "libopenblas0", "openblas", "libopenblas"),
    ("libblas", "libopenblas0", "openblas", "libblas"),
    ("liblapack", "libopenblas0", "openblas", "liblapack"),
    ("libblis", "libblis4", "blis", "blis"),
)
MKL_ALONE = "link MKL by its one library, mkl_rt, which loads the others:\n[blas]\nldflags = %s"
BLAS_SYMBOL = re.compile(
    r"(cblas_)?[sdcz](gemm|gemv|ger|dot|axpy|scal|nrm2|syrk|symm|trsm)(64)?_*$"
)
PYTHON_SYMBOL = re.compile("_?Py[A-Z]|Py_")


def missing_library(match, facts):
    """A shared library that the loader does not find."""
    name = os.path.basename(match.group(1))
    own = matching(facts.prefix, os.path.join("lib", name))
    if own:
        folder = os.path.dirname(own[0])
        return Cause(
            "the loader does not find %s, which is in %s" % (name, folder),
            "export LD_LIBRARY_PATH=%s" % folder,
        )
    for stem, debian, fedora, conda in SYSTEM:
        if name.startswith(stem):
            command = packages.system_command(debian, fedora, conda)
            return Cause("the library %s is missing" % name, "install it" + command)
    if name.startswith("libmkl") or name.startswith("libiomp5"):
        distribution = "mkl" if name.startswith("libmkl") else "intel-openmp"
        return Cause("the library %s is missing" % name, "%s %s" % (facts.pip(), distribution))
    return Cause("the library %s is missing" % name, "install the package that has it")


def damaged_file(match, facts):
    """A shared library that is cut off, or for another processor."""
    path = match.group(1)
    return Cause(
        "%s is damaged, or for another processor" % path, "install again the package that has it"
    )


def refused_mapping(match, facts):
    """A folder whose disk is mounted without the permission to execute."""
    folder = os.path.dirname(match.group(1))
    return Cause(
        "nothing may run in %s (noexec)" % folder,
        "set TMPDIR and the framework's base_compiledir to a folder on another disk",
    )


def old_system(match, facts):
    """A file that is built for a newer C or C++ library."""
    library, version, path = match.group("library"), match.group("version"), match.group("file")
    name = os.path.basename(path)
    if library == "GLIBC":
        what = "%s needs glibc %s, and this system's is older" % (name, version)
        return Cause(what, "install a version of its package that is built for older systems")
    what = "%s needs a newer libstdc++, with %s_%s" % (name, library, version)
    command = packages.system_command("libstdc++6", "libstdc++", "libstdcxx-ng")
    return Cause(what, "take the newer one, or another version of the package" + command)


def missing_symbol(match, facts):
    """A symbol that no loaded library has."""
    symbol = match.group(1)
    if symbol.startswith(("mkl_", "MKL_")):
        return Cause("MKL's libraries lack %s" % symbol, mkl_fix(facts.prefix))
    if PYTHON_SYMBOL.match(symbol):
        path = re.search(r"(\S+\.so[^\s:]*): undefined symbol", match.string)
        what = "%s is built for another Python: this one has no %s"
        return Cause(
            what % (os.path.basename(path.group(1)) if path else "a module", symbol),
            "install its package again, for this Python",
        )
    if BLAS_SYMBOL.match(symbol):
        return Cause(
            "no library that is linked has BLAS's %s" % symbol,
            "link a BLAS: correct blas.ldflags, for instance\n[blas]\nldflags = -lopenblas",
        )
    return None


def mkl_is_layered(match, facts):
    """MKL ends a program that links its layers one by one."""
    what = match.group(0).strip()
    if facts.ldflags and not re.search("mkl_(?!rt)", facts.ldflags):
        return Cause(what, "install MKL again: a part of it is missing")
    return Cause(what, mkl_fix(facts.prefix))


def mkl_fix(prefix):
    """Return how to link MKL by one library, of an environment or of the system."""
    names = [os.path.basename(path) for path in matching(prefix, "lib/libmkl_rt.so*")]
    if not names:
        return MKL_ALONE % "-lmkl_rt"
    folder = os.path.join(prefix, "lib")
    flag = "-lmkl_rt" if "libmkl_rt.so" in names else "-l:" + names[-1]
    return MKL_ALONE % "-L%s %s -Wl,-rpath,%s" % (folder, flag, folder)


def full_disk(match, facts):
    """A full disk, or a quota."""
    for folder in facts.folders:
        status = os.statvfs(folder)
        if status.f_bavail * status.f_frsize < 64 << 20 or not status.f_favail:
            fix = "free some space, or set TMPDIR to a folder on another disk"
            return Cause("%s is on a full disk" % folder, fix)
    return Cause("a disk, or its quota, is full", "free some space: df -h and quota show where")


def not_allowed(match, facts):
    """A file or folder that may not be written or read."""
    path = match.group("path")
    return Cause("%s: %s" % (path, match.group("why")), "make it yours, or choose another folder")


def no_memory(match, facts):
    """No memory is left."""
    return Cause(
        "memory ran out", "free some memory, or raise the limit (ulimit -v, a container's)"
    )


def missing_header(match, facts):
    """Python's header files, which every compiled module needs."""
    name = match.group(1)
    if name != "Python.h":
        return None
    version = pythons.text(facts.python)
    command = packages.system_command(
        "python%s-dev" % version, "python%s-devel" % version, "python=" + version
    )
    return Cause("Python's header files are missing", "install them" + command)


def missing_tool(match, facts):
    """A part of the compiler that is not installed."""
    command = packages.system_command("g++", "gcc-c++", "gxx")
    return Cause("the compiler lacks its part %s" % match.group(1), "install it again" + command)


def unknown_option(match, facts):
    """An option of another compiler, or of a newer one."""
    option = match.group(1)
    return Cause("g++ does not know the option %s" % option, "take %s out of gcc.cxxflags" % option)


def quotation(match, facts):
    """A quotation mark in the flags variable."""
    variable = facts.framework.upper() + "_FLAGS"
    return Cause("%s has a quotation mark without its pair" % variable, "put a backslash before it")


def refused_value(match, facts):
    """A flag whose value the framework refuses."""
    flag, variable = match.group("flag"), facts.framework.upper() + "_FLAGS"
    if flag in flags_of(facts.user_flags):
        return Cause("a value in %s" % variable, "correct %s in %s" % (flag, variable))
    path = os.environ.get(facts.framework.upper() + "RC") or "~/.%src" % facts.framework
    return Cause("a value in %s" % path, "correct %s in %s" % (flag, path))


def config_file(match, facts):
    """A configuration file that cannot be parsed."""
    path = match.group("file")
    return Cause("%s is not a valid configuration file" % path, "correct, or remove, the file")


def no_blas_name(match, facts):
    """Theano takes the BLAS from a NumPy that names none."""
    return Cause("the framework needs the name of a BLAS", packages.link_fix())
