"""What an error's own words name as its cause, and what to do about it: one table.

A cause is named only where this Python, its packages and its files agree with it, and its fix is
not what is the case already. Everything else is not recognised.
"""

from __future__ import absolute_import, division, print_function

import os
import re
import sys
import traceback

from verify.core import causes_in_files as in_files
from verify.core import causes_in_python as in_python
from verify.core import packages
from verify.core.report import UNKNOWN
from verify.core.text import text


class Facts(object):
    """What is true of this Python. framework: the name of its module; version: None to look it up.

    folders: those that the failed program writes into; ldflags: how it links a BLAS. A test gives
    its own. frames: the text of the traceback of an exception.
    """

    frames = ""

    def __init__(self, framework, version=None, folders=(), ldflags=""):
        self.framework = framework
        # Theano-PyMC is the module `theano`, too.
        names = (framework, "theano-pymc") if framework == "theano" else (framework,)
        found = [packages.installed(name) for name in names]
        self.version = version or next((each for each in found if each), None)
        self.folders = folders
        self.ldflags = ldflags
        self.user_flags = os.environ.get(framework.upper() + "_FLAGS", "")
        self.python = sys.version_info[:2]
        self.prefix = text(sys.prefix)

    is_installed = staticmethod(packages.is_installed)
    version_of = staticmethod(packages.installed)
    pip = staticmethod(packages.pip_command)


def of(text, facts):
    """Return the Cause that an error's text names, or None if it is not recognised."""
    for pattern, function in ROWS:
        for match in re.finditer(pattern, text):
            cause = function(match, facts)
            if cause:
                return cause
    return None


def of_error(error, facts):
    """Return the Cause of the exception that is being handled, or None if it is not recognised."""
    facts.frames = "".join(traceback.format_tb(sys.exc_info()[2]))
    while error is not None:
        cause = of(message_of(error), facts)
        if cause:
            return cause
        error = getattr(error, "__cause__", None)
    return None


def message_of(error):
    """Return the type of an exception and its message; of a wrong syntax, the file's path too."""
    text = "%s: %s" % (type(error).__name__, error)
    if isinstance(error, SyntaxError) and error.filename:
        text += " in %s, line %s" % (error.filename, error.lineno)
    return text


def unknown(program):
    """Return the words in place of a fix for what is not recognised.

    program: the command that shows all of it.
    """
    return "%s; this shows all of it:\n%s" % (UNKNOWN, program)


# The first row whose pattern is in the text, and whose function returns a Cause, counts.
ROWS = (
    (r"No closing quotation", in_files.quotation),
    (r"onfiguration variable \"(?P<flag>[\w.]+)\"", in_files.refused_value),
    (r"MKL FATAL ERROR:[^\n]*", in_files.mkl_is_layered),
    (r"No space left on device|Disk quota exceeded", in_files.full_disk),
    (
        r"(?P<why>Permission denied|Read-only file system)\W+(?P<path>/[^'\"\s]+)",
        in_files.not_allowed,
    ),
    (r"File contains no section headers\.\s+file: '?(?P<file>[^',\n]+)", in_files.config_file),
    (r"While reading from '?(?P<file>[^',\n]+?)'? ", in_files.config_file),
    (r"Source contains parsing errors: '?(?P<file>[^',\n]+)", in_files.config_file),
    (r"blas_opt_info|No section: '?blas", in_files.no_blas_name),
    (
        r"(\S+): failed to map segment from shared object: Operation not permitted",
        in_files.refused_mapping,
    ),
    (r"(\S+\.so[.\d]*): cannot open shared object file: No such file", in_files.missing_library),
    (r"(\S+): (?:invalid ELF header|file too short|wrong ELF class)", in_files.damaged_file),
    (
        r"version [`'](?P<library>GLIBC|GLIBCXX|CXXABI)_(?P<version>[\d.]+)' not found "
        r"\(required by (?P<file>[^)]+)\)",
        in_files.old_system,
    ),
    (r"undefined symbol: (\w+)", in_files.missing_symbol),
    (
        r"compiled against (?:ABI|API) version|size changed, may indicate binary",
        in_python.other_numpy,
    ),
    (r"compiled using NumPy 1\.x cannot be run in", in_python.other_numpy),
    (
        r"partially initialized module '(?P<module>[\w.]+)'[^(\n]*"
        r"(?:\(most likely[^)]*\))? ?\(?(?P<path>/[^)\n]+\.py)?",
        lambda match, facts: in_python.shadowed(match, facts) if match.group("path") else None,
    ),
    (r"No module named '?([\w.]+)", in_python.missing_module),
    (r"cannot import name '?(?P<name>\w+)'? from '?(?P<module>[\w.]+)", in_python.old_name),
    (r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'", in_python.old_name),
    (
        r"has no member named|was not declared in this scope|lvalue required as",
        in_python.old_c_code,
    ),
    (r"fatal error: (\S+): No such file", in_files.missing_header),
    (r"(?:cannot execute|execvp[^\n]*)\W+(cc1plus|as|ld|collect2)\b", in_files.missing_tool),
    (r"unrecognized command.line option \W*(-[\w=+-]+)", in_files.unknown_option),
    (
        r"Cannot allocate memory|virtual memory exhausted|MemoryError|Killed signal",
        in_files.no_memory,
    ),
    (r"SyntaxError|invalid syntax", in_python.other_syntax),
)
