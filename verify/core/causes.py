"""What an error's own words name as its cause, and what to do about it: one table.

A cause is named only where this Python, its packages and its files agree with it, and its fix is
not what is the case already. Everything else is not recognised.
"""

from __future__ import absolute_import, division, print_function

import collections
import os
import re
import resource
import sys
import traceback

from verify.core import configuration, machine, mismatches, packages, surroundings
from verify.core.portable import text
from verify.core.report import UNKNOWN

# what: the cause in a few words; fix: what to do.
Cause = collections.namedtuple("Cause", "what fix")


class Facts(object):
    """What is true of this Python. framework: the name of its module; version: None to look it up.

    folders: those that the failed program writes into; ldflags: how it links a BLAS; repair: how
    the builder puts the files of its environment back. A test gives its own. frames: the text of
    the traceback of an exception.
    """

    frames = ""

    def __init__(self, framework, version=None, folders=(), ldflags="", repair=None):
        self.framework = framework
        # Theano-PyMC is the module `theano`, too.
        names = (framework, "theano-pymc") if framework == "theano" else (framework,)
        self.version = version or next((v for v in map(packages.installed, names) if v), None)
        self.folders = folders
        self.ldflags, self.repair = ldflags, repair
        self.user_flags = os.environ.get(framework.upper() + "_FLAGS", "")
        self.python = sys.version_info[:2]
        self.prefix = text(sys.prefix)

    has_headers = staticmethod(packages.has_headers)
    is_installed = staticmethod(packages.is_installed)
    lost = staticmethod(packages.lost)
    version_of = staticmethod(packages.installed)
    pip = staticmethod(packages.pip_command)

    def source_of(self, flag, word=""):
        """Return what sets a flag, to a value with a word in it; None if nothing does."""
        values = configuration.sources(self.framework, self.user_flags, flag.replace("__", "."))
        return next((source for source, value in values if word in value), None)


def of(words, facts):
    """Return the Cause that an error's text names, or None if it is not recognised."""
    for row in ROWS:
        for match in re.finditer(row[0], words):
            if callable(row[1]):
                found = row[1](match, facts)
            else:
                values = dict(match.groupdict(), variable=facts.framework.upper() + "_FLAGS")
                values["folder"] = os.path.dirname(values.get("path") or "")
                found = [each % values for each in row[1:]]
            if found:
                return Cause(found[0], repaired(found[1], facts.repair))
    return None


def repaired(fix, repair):
    """Return a fix, or the builder's of its environment, `repair`, in which nothing else installs.

    Also where it is not recognised what is wrong there.
    """
    is_other = fix.startswith(UNKNOWN) or re.search(r"\binstall\b", fix)
    return repair if repair and is_other else fix


def of_error(error, facts):
    """Return the Cause of the exception that is being handled, or None if it is not recognised."""
    facts.frames = "".join(traceback.format_tb(sys.exc_info()[2]))
    while error is not None:
        cause = of(message_of(error), facts)
        if cause:
            return cause
        error = getattr(error, "__cause__", None)
    return None


def damage(facts):
    """Return the Cause of what is not recognised, where a file of a package is damaged, or None."""
    found = mismatches.without_file(r"\.(py|so)[^,/]*,", facts)
    return found and Cause(found[0], repaired(found[1], facts.repair))


def message_of(error):
    """Return the type of an exception and its message; of a wrong syntax, the file's path too."""
    message = "%s: %s" % (type(error).__name__, error)
    if isinstance(error, SyntaxError) and error.filename:
        message += " in %s, line %s" % (error.filename, error.lineno)
    return message


def unknown(program):
    """Return the words in place of a fix for what is not recognised; program: shows all of it."""
    return "%s%s; this shows all of it:\n%s" % (UNKNOWN, surroundings.first_try(), program)


def _full_disk(match, facts):
    """A full disk, or a quota."""
    for folder in facts.folders:
        status = os.statvfs(folder)
        if status.f_bavail * status.f_frsize < 64 << 20 or not status.f_favail:
            fix = "free some space, or set TMPDIR to a folder on another disk"
            return "%s is on a full disk" % folder, fix
    return "a disk, or its quota, is full", "free some space: df -h and quota show where"


def _limit(match, facts):
    """A limit of the shell's (setrlimit(2)), or of a container: the lower one."""
    memory = resource.getrlimit(resource.RLIMIT_AS)[0]
    if re.search("progress|segment", match.group(0)) and not 0 <= memory < LITTLE:
        return None
    for pattern, name, (size, unit), option, what, files in LIMITS:
        if re.search(pattern, match.group(0)):
            number = resource.getrlimit(getattr(resource, name))[0]
            value = "ulimit -%s is %d%s" % (option, number // size, unit)
            found = [(number, value, RAISE % option)] * (number != resource.RLIM_INFINITY)
            limits = [pair for pair in machine.cgroup_files(*files) if pair[1].isdigit()]
            found += [(int(each), "%s is %s" % (path, each), CONTAINER) for path, each in limits]
            found = sorted(found)[:1]
            if "thread" in match.group(0) and memory != resource.RLIM_INFINITY:
                # Each thread has a stack, and the error is the same.
                found.insert(0, (memory, "ulimit -v is %d KiB" % (memory >> 10), RAISE % "v"))
            if not found:
                return what, "look at the limits of the container or the batch job"
            names, fixes = ([each[number] for each in found] for number in (1, 2))
            return "%s: %s" % (what, " and ".join(names)), "; or ".join(fixes)


def _missing_header(match, facts):
    """Python's header files, which every compiled module needs, or its library."""
    is_library = "-lpython" in match.group(0)
    if facts.has_headers() and not is_library:
        return None
    names = [form % mismatches.text(facts.python) for form in ("python%s-dev", "python%s-devel")]
    names.append("python=" + mismatches.text(facts.python))
    fix = "install %s" % ("it" if is_library else "them") + packages.system_command(*names)
    fix += packages.or_environment(facts.framework, facts.version)
    return "Python's %s missing" % ("library is" if is_library else "header files are"), fix


def _missing_tool(match, facts):
    command = packages.compiler_command(facts.framework, facts.version)
    return "the compiler lacks its part %s" % match.group(1), "install it again" + command


def _refused_value(match, facts):
    flag, source = match.group("flag"), facts.source_of(match.group("flag"))
    return source and ("a value in %s" % source, "correct %s in %s" % (flag, source))


def _unknown_option(match, facts):
    option, source = match.group("option"), facts.source_of("gcc.cxxflags", match.group("option"))
    fix = "take %s out of gcc.cxxflags in %s" % (option, source)
    return source and ("g++ does not know the option " + option, fix)


def _shadowed(match, facts):
    """A file of the user's that has the name of a package."""
    path = match.group("path")
    if not path or "-packages/" in path:
        return None
    what = "%s hides the package %s" % (path, match.group("module").split(".")[0])
    return what, "rename it, or take its folder off Python's path"


# Bytes. With less, Python may wait for ever for a thread that had no memory to start.
LITTLE = 1 << 31
NO_PROCESS = "no more processes may start"
COUNT, KIB = (1, ""), (1024, " KiB")
# (what fails, its name in `resource`, unit, ulimit's option, in words, a container's files).
LIMITS = (
    ("Too many open files", "RLIMIT_NOFILE", COUNT, "n", "too many files are open", ()),
    ("File too large", "RLIMIT_FSIZE", KIB, "f", "a file may not become so large", ()),
    ("thread|fork|unavailable", "RLIMIT_NPROC", COUNT, "u", NO_PROCESS, ("pids.max",)),
    ("", "RLIMIT_AS", KIB, "v", "memory ran out", ("memory.max",)),
)
RAISE = "raise it: ulimit -%s with a larger number, or with unlimited"
CONTAINER = "raise the limit of the container or the batch job"
# (a pattern, then a cause and a fix with the pattern's groups in them, or a function that returns
# both, or None). The first row whose pattern is in the text, and that gives a cause, counts.
ROWS = (
    (
        r"No closing quotation",
        "%(variable)s has a quotation mark without its pair",
        "put a backslash before it",
    ),
    (r"onfiguration variable \"(?P<flag>[\w.]+)\"", _refused_value),
    (r"(?:I[Nn][Tt][Ee][Ll] )?MKL FATAL ERROR:[^\n]*", mismatches.layered_mkl),
    (r"No space left on device|Disk quota exceeded", _full_disk),
    (
        r"(?P<path>\S+\.so[.\d]*): cannot open shared object file: Permission denied",
        "%(path)s may not be read",
        "make it, and the folders above it, readable: chmod",
    ),
    (
        r"(?P<why>Permission denied|Read-only file system)\W+(?P<path>/[^'\"\s]+)",
        "%(path)s: %(why)s",
        "make it yours, or choose another folder",
    ),
    (
        r"(?:File contains no section headers\.\s+file: |Source contains parsing errors: "
        r"|While reading from )(?:PosixPath\()?'?(?P<file>[^',\n]+)",
        "%(file)s is not a valid configuration file",
        "correct, or remove, the file",
    ),
    (
        # Theano takes the BLAS from a NumPy that names none.
        r"blas_opt_info|No section: '?blas",
        lambda _, facts: ("the framework needs a BLAS's name", packages.link_fix(facts.framework)),
    ),
    (
        r"(?P<path>\S+): failed to map segment from shared object: Operation not permitted",
        "nothing may run in %(folder)s (noexec)",
        "set TMPDIR and the framework's base_compiledir to a folder on another disk",
    ),
    (r"(\S+\.so[.\d]*): cannot open shared object file: No such file", mismatches.missing_library),
    (
        r"(?P<path>\S+): cannot enable executable stack",
        "%(path)s asks for an executable stack, which this system refuses",
        "take a newer version of its package, or remove the mark:\npatchelf --clear-execstack "
        "%(path)s",
    ),
    (
        r"(?P<path>\S+): cannot allocate memory in static TLS block",
        "%(path)s is loaded too late: the memory for variables of threads is used up",
        "have it loaded first:\nexport LD_PRELOAD=%(path)s",
    ),
    (
        r"Too many open files|File too large|can't start new thread|pthread_create\(?\)? failed"
        r"|Resource temporarily unavailable|Cannot (?:fork|allocate memory)|memory exhausted"
        r"|MemoryError|Memory allocation (?:still )?failed|Killed signal|made no progress"
        r"|failed to map segment",
        _limit,
    ),
    (
        r"Exec format error\W+(?P<path>/[^'\"\s]+)",
        "%(path)s is no program that this machine can run",
        "name another one",
    ),
    (
        r"(?P<why>Input/output error|Stale file handle|Transport endpoint is not connected)"
        r"(?:\W+(?P<path>/[^'\"\s]+))?",
        "a disk, or a folder on the network, fails: %(why)s",
        "look at the system's log: dmesg, mount",
    ),
    (
        r"version [`'](?P<library>GLIBC|GLIBCXX|CXXABI)_(?P<version>[\d.]+)' not found "
        r"\(required by (?P<file>[^)]+)\)",
        mismatches.old_system,
    ),
    (r"undefined symbol: (\w+)", mismatches.missing_symbol),
    (
        r"compiled against (?:ABI|API) version|size changed, may indicate binary"
        r"|compiled using NumPy 1\.x cannot be run in",
        mismatches.other_numpy,
    ),
    (
        r"partially initialized module '(?P<module>[\w.]+)'[^(\n]*"
        r"(?:\(most likely[^)]*\))? ?\(?(?P<path>/[^)\n]+\.py)?",
        _shadowed,
    ),
    (r"No module named '?([\w.]+)", mismatches.missing_module),
    (
        r"cannot import name '?(?P<name>\w+)'? from (?:partially initialized module )?"
        r"'?(?P<module>[\w.]+)",
        mismatches.old_name,
    ),
    (r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'", mismatches.old_name),
    (r"has no member named|was not declared in|lvalue required|longintrepr", mismatches.old_c_code),
    (r"fatal error: Python\.h: No such file|cannot find -lpython", _missing_header),
    (r"(?:cannot execute|execvp[^\n]*)\W+(cc1plus|as|ld|collect2)\b", _missing_tool),
    (r"unrecognized command.line option \W*(?P<option>-[\w=+-]+)", _unknown_option),
    (r"SyntaxError|invalid syntax", mismatches.other_syntax),
    (r"died by signal (?:4|6|7|11)\b", mismatches.crashed),
)
ROWS += tuple(
    (r"(?P<path>\S+): " + words, "%(path)s " + what, "install again the package that has it")
    for words, what in (
        ("invalid ELF header", "is no library"),
        ("file too short", "is cut off"),
        ("wrong ELF class", "is for another kind of processor"),
    )
)
