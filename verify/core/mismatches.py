"""What does not fit together: Pythons, frameworks, NumPys, and libraries that the loader refuses.

Each function of a match takes that of its row in causes.py and the Facts, and returns (cause, fix),
or None where this Python and its packages do not agree with it.
"""

from __future__ import absolute_import, division, print_function

import collections
import os
import re
import sys

from verify.core import c_code, packages, surroundings

# framework: the name of its module; release: the first one that this is true of; python: the newest
# that it runs on; numpy: the first version that is too new, or None.
Support = collections.namedtuple("Support", "framework release python numpy")
# Theano-PyMC is the module `theano`, too. The last line that fits counts. PyTensor says by itself
# what it needs when pip installs it.
SUPPORT = (
    Support("theano", (0,), (3, 6), (1, 17)),
    Support("theano", (1, 0), (3, 9), (1, 23)),
    Support("aesara", (2,), (3, 11), (1, 25)),
)
NEWEST = {"theano": "1.0.5"}
# What later Pythons no longer have.
REMOVED = ("asynchat", "asyncore", "cgi", "crypt", "distutils", "formatter", "imp", "parser")
REMOVED += ("pipes", "smtpd", "symbol")
# What some builds of Python lack, as the library that each needs was missing then.
BUILT = ("_bz2", "_ctypes", "_curses", "_dbm", "_gdbm", "_lzma", "_sqlite3", "_ssl", "_tkinter")
BUILT += ("_uuid", "readline", "zlib")
# The setuptools whose distutils lacks `msvccompiler`, which NumPy's `distutils` imports.
MSVC = (74,)
# Modules of Python whose names have changed between versions.
STANDARD = ("ast", "collections", "configparser", "fractions", "gettext", "inspect", "pkgutil")
STANDARD += ("random", "threading", "time", "types", "typing", "unittest")
# Modules whose distribution has another name. What is not in the list has its module's name.
DISTRIBUTIONS = {
    "attr": "attrs",
    "dateutil": "python-dateutil",
    "distutils": "setuptools",
    "kanren": "miniKanren",
    "pkg_resources": "setuptools",
    "sklearn": "scikit-learn",
    "tlz": "toolz",
    "unification": "logical-unification",
    "yaml": "PyYAML",
}
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
PACKAGE = "install again the package that has it"
PYTHON_SYMBOL = re.compile("_?Py[A-Z]|Py_")


def support_of(framework, version):
    """Return the Support of a framework's version, None if it is not known."""
    release = number(version or "0")
    fitting = [row for row in SUPPORT if row.framework == framework and row.release <= release]
    return fitting[-1] if fitting else None


def number(version):
    """Return the numbers of a version as a tuple."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def text(numbers):
    """Return a tuple of numbers as a version."""
    return ".".join(map(str, numbers))


def missing_module(match, facts):
    """A module that is not installed, is for another Python, or that Python no longer has."""
    name = match.group(1)
    top = name.split(".")[0]
    distribution = DISTRIBUTIONS.get(top, top)
    if not facts.is_installed(top):
        what = "Python %s has no module %s" % (text(facts.python), top)
        if top in BUILT:
            return "this %s: it was built without" % what, "install another Python, with it"
        if top in REMOVED:
            other = distribution != top and (what, "%s %s" % (facts.pip(), distribution))
            return _old_framework(what, facts) or other or None
        support = support_of(facts.framework, facts.version)
        limit = "<" + text(support.numpy) if support and top == "numpy" else ""
        requirement = "'%s%s'" % (distribution, limit) if limit else distribution
        fix = "%s %s" % (facts.pip(), requirement)
        return "the package %s is missing" % distribution, fix
    found = facts.version_of("setuptools")
    if top == "distutils" and found and number(found) >= MSVC:
        what = "setuptools %s, which stands for distutils, has no %s" % (found, name)
        return what, "%s 'setuptools<%s'" % (facts.pip(), text(MSVC))
    damaged = without_file(r"(^|/)%s(/__init__)?\.(py|[\w.-]*so)," % name.replace(".", "/"), facts)
    if damaged or top == facts.framework:
        return damaged
    others = _of_other_pythons(top, name)
    if others:
        return (
            "%s is built for another Python: it has %s" % (top, os.path.basename(others[0])),
            "install it for this one:\n%s %s" % (facts.pip(again=True), distribution),
        )
    return _too_new(top, facts)


def without_file(pattern, facts):
    """A package with a file that is gone, or is not as its installer has recorded."""
    found = facts.lost(pattern)
    if not found:
        return None
    name, version, path, problem = found
    fix = "install it again:\n%s --no-deps %s==%s" % (facts.pip(again=True), name, version)
    return "%s is damaged: its file %s %s" % (name, path, problem), fix


def crashed(match, facts):
    """A library that was cut off since it was installed, and ends the program."""
    damaged = without_file(r"\.so[.\d]*,", facts)
    for path in surroundings.matching(os.path.join(facts.prefix, "lib"), "*.so*"):
        # No record has the sizes of a conda client's files.
        if not damaged and c_code.is_cut_off(path):
            return "%s is cut off" % path, PACKAGE
    return damaged


def _of_other_pythons(top, name):
    """Return the files of a package that are a module for other Pythons than this one."""
    if top == name:
        return []
    inner = os.path.join(*name.split(".")) + ".*.so"
    found = [path for folder in sys.path for path in surroundings.matching(folder, inner)]
    tag = "-%d%d" % sys.version_info[:2]
    return [path for path in found if tag not in os.path.basename(path)]


def old_name(match, facts):
    """A name that a module no longer has, or does not have yet."""
    module = match.groupdict().get("module") or ""
    top = module.split(".")[0]
    path = "/".join(module.split(".") + [match.group("name")])
    damaged = without_file(r"^%s(/__init__)?\.py," % path, facts)
    if damaged:
        return damaged
    if "partially initialized" in match.group(0):
        return None
    if top not in STANDARD:
        return _too_new(top, facts)
    words = (text(facts.python), match.group("name"), module)
    return _old_framework("Python %s has no %s in %s" % words, facts)


def old_c_code(match, facts):
    """C code that uses what later Pythons, or NumPys, no longer have."""
    return _old_framework("C code for an earlier Python", facts) or _too_new("numpy", facts)


def _old_framework(what, facts):
    """The framework is for an earlier Python."""
    support = support_of(facts.framework, facts.version)
    if not support or facts.python <= support.python:
        return None
    name = "%s %s" % (facts.framework, facts.version or "")
    newest = NEWEST.get(facts.framework)
    newer = newest and support_of(facts.framework, newest)
    if newer and facts.python <= newer.python:
        fix = "%s %s==%s" % (facts.pip(), facts.framework, newest)
    else:
        fix = "take Python %s, or PyTensor, its successor:\n%s pytensor" % (
            text(support.python),
            facts.pip(),
        )
    return "%s: %s is for Python up to %s" % (what, name, text(support.python)), fix


def _too_new(top, facts):
    """NumPy is too new for the framework; None if it is not, or if that is not known."""
    support = support_of(facts.framework, facts.version)
    found = facts.version_of("numpy")
    if top != "numpy" or not (support and found and number(found) >= support.numpy):
        return None
    what = "NumPy %s is too new for %s %s" % (found, facts.framework, facts.version)
    if facts.python > support.python:
        return _old_framework(what, facts)
    return what, "%s 'numpy<%s'" % (facts.pip(), text(support.numpy))


def other_numpy(match, facts):
    """A package was compiled for another NumPy than the installed one."""
    # The last one, other than NumPy, that the traceback leads through.
    names = re.findall(r"(?:site|dist)-packages/([A-Za-z0-9_]+)", facts.frames)
    package = ([DISTRIBUTIONS.get(name, name) for name in names if name != "numpy"] or [None])[-1]
    what = "%s was compiled for another NumPy than %s" % (package, facts.version_of("numpy"))
    fix = "install it for this NumPy:\n%s --no-deps %s" % (facts.pip(again=True), package)
    return _too_new("numpy", facts) or (package and (what, fix))


def other_syntax(match, facts):
    """A file that is damaged, the user's, or in the syntax of another Python."""
    path, line = (re.findall(r" in (/.*\.py), line (\d+)$", match.string) or [("", "")])[0]
    inner = path.partition("-packages/")[2]
    damaged = inner and without_file("^%s," % re.escape(inner), facts)
    if damaged:
        return damaged
    is_half = re.search("EO[FL]|never closed|unterminated", match.string)
    support = support_of(facts.framework, facts.version)
    if support and facts.python > support.python and not is_half:
        return _old_framework("its source is not for Python %s" % text(facts.python), facts)
    if not path:
        return None
    if not (inner or path.startswith(os.path.join(facts.prefix, "lib"))):
        return "%s has a mistake in line %s" % (path, line), "correct the file"
    what = "is cut off" if is_half else "is written for another Python than " + text(facts.python)
    top = re.split("[/.]", inner)[0]
    fix = "install this Python again"
    if top:
        words = (top, facts.pip(again=True), DISTRIBUTIONS.get(top, top))
        fix = "install %s again, in a version for this Python:\n%s %s" % words
    return "%s %s" % (path, what), fix


def missing_library(match, facts):
    """A library that is not installed, not found, or gone from its package."""
    name = os.path.basename(match.group(1))
    folder = os.path.join(facts.prefix, "lib")
    searched = surroundings.folders(os.environ, "LD_LIBRARY_PATH")
    if os.path.exists(os.path.join(folder, name)) and folder not in searched:
        what = "the loader does not find %s, which is in %s" % (name, folder)
        path = surroundings.quote(":".join([folder] + searched))
        return what, "export LD_LIBRARY_PATH=" + path
    damaged = without_file(r"(^|/)%s," % re.escape(name), facts)
    if damaged:
        return damaged
    fix = PACKAGE
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
    path = re.search(r"(\S+\.so[^\s:]*): undefined symbol", match.string)
    if symbol.startswith(("mkl_", "MKL_")) or (path and "libmkl_" in path.group(1)):
        return "MKL's libraries lack %s" % symbol, _mkl_fix(facts.prefix)
    if PYTHON_SYMBOL.match(symbol):
        name = os.path.basename(path.group(1)) if path else "a module"
        what = "%s is built for another Python: this one has no %s" % (name, symbol)
        return what, "install its package again, for this Python"
    if path and path.group(1).startswith(os.path.join(facts.prefix, "")):
        what = "no library that %s loads has %s" % (path.group(1), symbol)
        return what, "install its package, and those that it needs, again: they do not fit"
    if BLAS_SYMBOL.match(symbol):
        fix = packages.link_fix(facts.framework)
        return "no library that is linked has BLAS's %s" % symbol, fix
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
    return MKL_ALONE % (flags + ["-lmkl_rt"])[0]
