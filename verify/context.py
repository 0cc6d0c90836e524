"""The state that every check reads, and which variable keeps its program from running.

An error's words rarely name the variable. A program that runs without it, and fails with it, does.
"""

from __future__ import absolute_import, division, print_function

import os
import re
import shutil
import sys

from verify.core import framework as frameworks
from verify.core import packages, process, surroundings
from verify.core.configuration import (
    compile_flags,
    config_lines,
    flags_of,
    options_of,
    use_compile_folder,
)
from verify.core.portable import native

_UNTRIED = object()


class Context(object):
    """One verification of one environment.

    framework: the LoadedFramework.
    expectation: the content of the builder's expectation file, or None in a diagnosis.
    folder: where temporary files go.
    user_flags: the framework's flags variable as the user has set it, before the suite adds to it.
    full: whether to run the long timings.
    requested_device: the device that the environment or its user requests, or None for the host.
    """

    def __init__(
        self, framework, expectation, folder, user_flags, full=False, requested_device=None
    ):
        self.framework, self.expectation, self.folder = framework, expectation, folder
        self.user_flags, self.full, self.requested_device = user_flags, full, requested_device
        # The folder of compiled modules to share once the compiler works, or None.
        self.modules = None
        # The folder of what the environment's verification has compiled before, or None.
        self.verified = None
        # The rest is left by checks for later ones, and for the report.
        self.is_whole = False  # whether the files were seen to be the installed ones, and no others
        self.operations = {}  # {(name, dtype): CompiledOperation}
        self.elementwise = {}  # {(name, dtype): compiled function}
        self.serving = None  # the Library that computes matrix products
        self.second_blas_fix = None  # how to have one BLAS in the process; None where there is one
        self.peaks = {}  # {dtype: {threads: GFLOP/s}}
        self.peak_kernel = None  # the loaded library that measures a peak
        self.peak_sets = {}  # {(dtype, threads): its instruction set with the highest rate}
        self.gemm = {}  # {dtype: [GFLOP/s]}
        self.shares = {}  # {dtype: [share of the peak in each pair]}
        self.reasons = {}  # {dtype: [what was seen that took time from the products]}
        self.alone = {}  # {dtype: GFLOP/s of one thread}
        self.advice = []  # sentences of the summary: what is no fault, but slow
        self.device = None  # the report's description of the device
        self.device_missing = False
        self._culprit = _UNTRIED

    def start(self, function, name, *more, **options):
        """Call a function of the suite beside this process; return the process.Started.

        It gets the framework's module, a copy of the compile folder of this name, and more
        arguments: processes that share one wait for each other, Theano's for five seconds or more.
        environ: its variables; by default those of this process.
        """
        copy, folder = os.path.join(self.folder, name), str(self.framework.flag("base_compiledir"))
        if os.path.isdir(folder):
            # Theano keeps its lock after some errors; the copy would wait for it, for two minutes.
            ignored = shutil.ignore_patterns("lock_dir")
            shutil.copytree(folder, copy, symlinks=True, ignore=ignored)
        command = process.suite_command("probe", function, self.framework.name, copy, *more)
        return process.Started(command, copy + ".txt", options.get("environ"))

    @property
    def culprit(self):
        """The variable or setting without which a small function compiles, as find_culprit has it.

        None if there is none. It is looked for once, since that takes seconds.
        """
        if self._culprit is _UNTRIED:
            name = self.framework.name
            # What numba compiles says nothing of the C compiler.
            steps = [COMPILE] + [IN_C + COMPILE] * self.framework.runs_numba
            programs = ((IMPORT + step) % {"name": name} for step in steps)
            found = (find_culprit(p, name, self.folder, self.user_flags) for p in programs)
            self._culprit = next((each for each in found if each), None)
        return self._culprit

    @property
    def is_baseline(self):
        """Whether the slow path is the expected one."""
        return bool(self.expectation and self.expectation["baseline"])

    @property
    def is_by_numba(self):
        """Whether programs run numba, and what the C linker would call is nobody's choice."""
        is_free = not (self.expectation or self.has_ldflags)
        return is_free and self.framework.runs_numba

    @property
    def has_ldflags(self):
        """Whether the framework links its own code against a BLAS."""
        return bool(str(self.framework.flag("blas.ldflags") or "").strip())


def of_program(name, folder, user_flags=None):
    """Return the context of a program that a check starts, which compiles into a folder.

    name: of the framework's module. user_flags: by default those of this process. Temporary files
    go where configuration.take() does not look for what is compiled.
    """
    if user_flags is None:
        user_flags = os.environ.get(name.upper() + "_FLAGS", "")
    use_compile_folder(folder)
    own = os.path.join(folder, ".suite")
    if not os.path.isdir(own):
        os.makedirs(own)
    return Context(frameworks.load(name), None, own, user_flags)


# Seconds for one start of the program, and the number of variables that are tried.
LIMIT, MOST = 60, 12
LISTS = ("PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD")
# The last line of a traceback.
ERROR = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Warning|Exit)\b")
# A variable's name.
NAME = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
# Not from the folder that the user stands in: the suite does not import from there either.
IMPORT = "import sys; sys.path = [path for path in sys.path if path]; import %(name)s"
IN_C = "; %(name)s.config.linker = 'cvm'"
COMPILE = "; x = %(name)s.tensor.dvector(); %(name)s.function([x], (x + 1).sum())([1.0])"


def find_culprit(program, framework, folder, user_flags="", environ=None):
    """Return (what keeps a program from running, how to undo it); None if nothing does alone.

    program: the text of a Python program that fails in these surroundings. framework: its name.
    folder: to compile into. user_flags: the framework's flags as the user has set them. environ:
    the variables; by default those of this process.
    """
    environ = dict(os.environ if environ is None else environ)
    flags, rc = framework.upper() + "_FLAGS", framework.upper() + "RC"
    # What the suite adds to the user's flags does not count.
    own = compile_flags(framework, os.path.join(folder, "trial"))

    options = _options(environ)

    def error_in(changed, options=options):
        changed = dict(changed)
        changed[flags] = ",".join(each for each in (changed.get(flags), own) if each)
        done = process.call([sys.executable] + options + ["-c", program], LIMIT, changed)
        return _error(done.output) if done.status else None

    environ[flags] = user_flags
    first = error_in(environ)
    named = set(NAME.findall(first or "")) & set(environ) - {flags, rc}
    names = sorted(named.union(surroundings.suspects(environ)))[:MOST]

    def helps(changed, options=options):
        """Return whether the error is gone. Another one may follow, if no package is missing."""
        error = error_in(changed, options)
        return error is None or (error != first and "No module named" not in error)

    if first is None:
        return None
    if options and helps(environ, []):
        return "Python's options %s" % " ".join(options), "start Python without them"
    for name in names:
        if helps(_without(environ, name)):
            return _of_variable(environ, name, helps)
    if user_flags and error_in(_without(environ, flags)) is None:
        return _of_flags(environ, flags, user_flags, error_in)
    home = packages.user_folder()
    if os.path.isdir(home) and helps(dict(environ, PYTHONNOUSERSITE="1")):
        what = "the packages in %s" % home
        return what, "remove them, or leave them out:\nexport PYTHONNOUSERSITE=1"
    paths = (environ.get(rc) or "~/.%src" % framework).split(os.pathsep)
    for path in paths:
        others = os.pathsep.join(each for each in paths if each != path) or os.devnull
        if error_in(dict(environ, **{rc: others})) is None:
            copy = os.path.join(folder, "rc")
            copied = dict(environ, **{rc: os.pathsep.join([others, copy])})
            return _of_file(path, copy, lambda copied=copied: error_in(copied) is None)
    if len(names) > 1 and error_in({n: v for n, v in environ.items() if n not in names}) is None:
        text = " and ".join("%s=%s" % (name, environ[name]) for name in names)
        return text, "unset " + " ".join(names)
    return None


def _options(environ):
    """Return the options that this Python was started with, without what variables say."""
    by_variable = environ.get("PYTHONWARNINGS", "").split(",")
    options = ["-" + "O" * sys.flags.optimize] * bool(sys.flags.optimize)
    options *= not environ.get("PYTHONOPTIMIZE")
    return options + ["-W" + option for option in sys.warnoptions if option not in by_variable]


def _error(output):
    """Return the line of the exception that ended a program, else the last line."""
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.match(line)]
    return (errors or lines or ["no message"])[-1]


def _without(environ, name):
    return {other: environ[other] for other in environ if other != name}


def _of_variable(environ, name, helps):
    """Return the answer for a variable: of a list, for the entry that matters."""
    reason = surroundings.reason_of(name, environ[name]) or "the error names"
    parts = surroundings.folders(environ, name) if name in LISTS else ()
    for part in parts:
        others = ":".join(each for each in parts if each != part)
        if helps(dict(environ, **{name: others})):
            fix = surroundings.without(name, os.path.realpath(part), environ=environ)
            return "%s in %s" % (part, name), fix
    return "%s=%s, which %s" % (name, environ[name], reason), "unset " + name


def _of_file(path, copy, runs):
    """Return the answer for a configuration file: for the setting that matters.

    None if the file's form is wrong. runs: returns whether the program runs with the file `copy`.
    """
    options = options_of(os.path.expanduser(native(path)))
    for left in [None] + sorted(option for option in options if option[1]):
        lines = [
            "%s = %s" % (option[1], value) if option[1] else "[%s]" % option[0]
            for option, value in sorted(options.items())
            if option != left
        ]
        with open(copy, "wb") as file:
            file.write("\n".join(lines).encode("utf-8"))
        if runs():
            lines = left and config_lines(left[0], left[1], options[left])
            return left and ("%s in %s" % (left[1], path), "remove from %s:\n%s" % (path, lines))
    return "a setting in %s" % path, "correct the lines of %s" % path


def _of_flags(environ, variable, user_flags, error_in):
    """Return the answer for a framework's flags: for the one that matters."""
    flags = flags_of(user_flags)
    for flag in sorted(flags):
        rest = ",".join("%s=%s" % (n, flags[n]) for n in flags if n != flag)
        if error_in(dict(environ, **{variable: rest})) is None:
            setting = "%s=%s" % (flag, flags[flag])
            return "%s in %s" % (setting, variable), "remove %s from %s" % (setting, variable)
    return "%s=%s" % (variable, user_flags), "unset " + variable
