"""What to do about it: the exact line, and the file that it goes into."""

from __future__ import absolute_import, division, print_function

import os
import re
import sys

from verify.core import process

# In the order of preference: link name, soname's beginning.
LIBRARIES = ("openblas", "mkl_rt", "blis", "flexiblas")
TELLING = re.compile(r"undefined symbol|cannot find -l|error:|No such file|not found")


def explain(error):
    """Return the line of an exception that says most, without a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.search(line)]
    line = (telling or lines[-1:] or [""])[0]
    # The names of compiled modules are long hashes in a folder that is gone afterwards.
    line = re.sub(r"\S*/m?[0-9a-f]{32,}\.so: ", "", line)
    return "%s: %s" % (type(error).__name__, line[:240])


def rc_lines(section, option, value):
    """Return a setting as the lines of a configuration file."""
    return "[%s]\n%s = %s" % (section, option, value)


def rc_file(context):
    """Return the configuration file that wins, as a person would write its name."""
    given = os.environ.get(context.framework.rc_variable)
    return given.split(os.pathsep)[-1] if given else context.framework.rc_file


def ldflags_fix(context):
    """Return how to make the framework link a fast BLAS on this machine."""
    if context.expectation and context.expectation["blas"]:
        value = context.expectation["blas"]["ldflags"]
        return "the environment's own setting is gone; put back into %s:\n%s" % (
            rc_file(context),
            rc_lines("blas", "ldflags", value),
        )
    value = linkable()
    lines = rc_lines("blas", "ldflags", value or "-lopenblas")
    put = "put these lines into %s:\n%s" % (rc_file(context), lines)
    flags = context.given_flags
    if "blas" in flags and "ldflags" in flags:
        put = "take blas.ldflags out of %s, then %s" % (context.framework.flags_variable, put)
    if value:
        return put
    return (
        "no linkable BLAS was found: install OpenBLAS (Debian, Ubuntu: libopenblas-dev; "
        "Fedora: openblas-devel; conda: openblas), then " + put
    )


def no_compiler_fix(context):
    """Return how to give the framework a C++ compiler."""
    flags = context.given_flags
    if re.search(r"(^|,)\s*cxx\s*=", flags):
        return "take cxx= out of %s" % context.framework.flags_variable
    return "install a C++ compiler (Debian, Ubuntu: g++), or name one in %s:\n%s" % (
        rc_file(context),
        rc_lines("global", "cxx", "/usr/bin/g++"),
    )


def linkable():
    """Return linker flags for the best BLAS found in the prefix or on the system, or None."""
    folder = os.path.join(sys.prefix, "lib")
    for name in LIBRARIES:
        found = _link_name(name, sorted(os.listdir(folder)) if os.path.isdir(folder) else [])
        if found:
            return "-L%s %s -Wl,-rpath,%s" % (folder, found, folder)
    known = system_libraries()
    for name in LIBRARIES:
        found = _link_name(name, known)
        if found:
            return found
    return None


def _link_name(name, files):
    if "lib%s.so" % name in files:
        return "-l" + name
    # Without its development link a library can be linked by its full name.
    versioned = [file for file in files if file.startswith("lib%s.so." % name)]
    return "-l:" + versioned[0] if versioned else None


def system_libraries():
    """Return the file names of every library that the loader knows."""
    for program in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            done = process.call([program, "-p"], 20)
        except OSError:
            continue
        return re.findall(r"^\s*(\S+) \([^)]*\) => ", done.output, re.MULTILINE)
    return []
