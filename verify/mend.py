"""What to do about it: the exact line, and the file that it goes into."""

from __future__ import absolute_import, division, print_function

import os
import re
import sys

from verify import process

# In the order of preference: link name, soname's beginning.
LIBRARIES = ("openblas", "mkl_rt", "blis", "flexiblas")
TELLING = re.compile(r"undefined symbol|cannot find -l|error:|No such file|not found")


def explain(error):
    """Return the line of an exception that says most, without a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if TELLING.search(line)]
    line = (telling or lines[-1:] or [""])[0]
    line = re.sub(r"\S*/(tmp|compiledir)\S*/", "", line)
    return "%s: %s" % (type(error).__name__, line[:240])


def rc_lines(section, option, value):
    """Return a setting as the lines of a configuration file."""
    return "[%s]\n%s = %s" % (section, option, value)


def rc_file(context):
    """Return the configuration file that wins, as a person would write its name."""
    given = os.environ.get(context.framework.rc_variable)
    return given.split(os.pathsep)[-1] if given else context.framework.rc_file


def ldflags_mend(context):
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


def no_compiler_mend(context):
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
    for name in LIBRARIES:
        for folder in (os.path.join(sys.prefix, "lib"),):
            found = _in_folder(folder, name)
            if found:
                return "-L%s %s -Wl,-rpath,%s" % (folder, found, folder)
    system = system_libraries()
    for name in LIBRARIES:
        for soname, path in system:
            if soname == "lib%s.so" % name:
                return "-l" + name
        for soname, path in system:
            # Without its development link a library can be linked by its full name.
            if soname.startswith("lib%s.so." % name):
                return "-l:" + soname
    return None


def _in_folder(folder, name):
    try:
        entries = sorted(os.listdir(folder))
    except OSError:
        return None
    if "lib%s.so" % name in entries:
        return "-l" + name
    versioned = [entry for entry in entries if entry.startswith("lib%s.so." % name)]
    return "-l:" + versioned[0] if versioned else None


def system_libraries():
    """Return [(soname, path)] of every library that the loader knows."""
    for program in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            done = process.call([program, "-p"], 20)
        except OSError:
            continue
        found = re.findall(r"^\s*(\S+) \([^)]*\) => (\S+)$", done.output, re.MULTILINE)
        return [(soname, path) for soname, path in found]
    return []
