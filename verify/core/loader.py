"""Shared libraries that the loader refuses: what is missing, damaged, or of another system.

Each function of a match takes that of its row in causes.py and the Facts, and returns (cause, fix),
or None where it is not recognised.
"""

from __future__ import absolute_import, division, print_function

import os
import re

from verify.core import packages, pythons
from verify.core.portable import matching

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
    """A library that is not installed, not found, or gone from its package."""
    name = os.path.basename(match.group(1))
    own = matching(facts.prefix, os.path.join("lib", name))
    if own:
        folder = os.path.dirname(own[0])
        what = "the loader does not find %s, which is in %s" % (name, folder)
        return what, "export LD_LIBRARY_PATH=%s" % folder
    damaged = pythons.without_file(r"(^|/)%s," % re.escape(name), facts)
    if damaged:
        return damaged
    fix = "install the package that has it"
    if name.startswith(("libmkl", "libiomp5")):
        distribution = "mkl" if name.startswith("libmkl") else "intel-openmp"
        fix = "%s %s" % (facts.pip(), distribution)
    for stem, debian, fedora, conda in SYSTEM:
        if name.startswith(stem):
            fix = "install it" + packages.system_command(debian, fedora, conda)
            break
    return "the library %s is missing" % name, fix


def old_system(match, facts):
    """A file that is built for a newer C or C++ library."""
    library, version, path = match.group("library"), match.group("version"), match.group("file")
    name = os.path.basename(path)
    if library == "GLIBC":
        what = "%s needs glibc %s, and this system's is older" % (name, version)
        return what, "take a version of its package that is built for older systems"
    what = "%s needs a newer libstdc++, with %s_%s" % (name, library, version)
    command = packages.system_command("libstdc++6", "libstdc++", "libstdcxx-ng")
    return what, "take the newer one, or another version of the package" + command


def missing_symbol(match, facts):
    """A symbol of MKL's, of Python's or of a BLAS that no library has."""
    symbol = match.group(1)
    if symbol.startswith(("mkl_", "MKL_")):
        return "MKL's libraries lack %s" % symbol, _mkl_fix(facts.prefix)
    if PYTHON_SYMBOL.match(symbol):
        path = re.search(r"(\S+\.so[^\s:]*): undefined symbol", match.string)
        name = os.path.basename(path.group(1)) if path else "a module"
        what = "%s is built for another Python: this one has no %s" % (name, symbol)
        return what, "install its package again, for this Python"
    if BLAS_SYMBOL.match(symbol):
        return (
            "no library that is linked has BLAS's %s" % symbol,
            "link a BLAS: correct blas.ldflags, for instance\n[blas]\nldflags = -lopenblas",
        )
    return None


def layered_mkl(match, facts):
    """MKL ends a program that links its layers one by one."""
    what = match.group(0).strip()
    if facts.ldflags and not re.search("mkl_(?!rt)", facts.ldflags):
        return what, "install MKL again: a part of it is missing"
    return what, _mkl_fix(facts.prefix)


def _mkl_fix(prefix):
    """Return how to link MKL by one library, of an environment or of the system."""
    flags = packages.flags_in(os.path.join(prefix, "lib"), ("mkl_rt",))
    return MKL_ALONE % (flags or "-lmkl_rt")
