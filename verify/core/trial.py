"""Find which environment variable keeps a program from running, by running it without each.

An error's words rarely name the variable. A program that runs without it, and fails with it, does.
"""

from __future__ import absolute_import, division, print_function

import os
import re
import sys

from verify.core import process, surroundings
from verify.core.compiling import compile_flags
from verify.core.config_files import flags_of

# Seconds for one start of the program, and the number of variables that are tried.
LIMIT, MOST = 60, 12
# The separators of variables that are lists.
LISTS = {"PYTHONPATH": ":", "LD_LIBRARY_PATH": ":", "LD_PRELOAD": "[ :]"}
# The last line of a traceback.
ERROR = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Warning|Exit)\b")
# Not from the folder that the user stands in: the suite does not import from there either.
IMPORT = "import sys; sys.path = [path for path in sys.path if path]; import %s"
COMPILE = IMPORT + "; x = %s.tensor.dvector(); %s.function([x], (x + 1).sum())([1.0])"


def program_that_imports(name):
    """Return the text of a Python program that imports a module."""
    return IMPORT % name


def program_that_compiles(name):
    """Return the text of a Python program that compiles and calls a function of a framework."""
    return COMPILE % (name, name, name)


def culprit(program, framework, folder, user_flags="", environ=None):
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
    names = surroundings.suspects(environ)[:MOST]

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
    if error_in(dict(environ, **{rc: os.devnull})) is None:
        paths = environ.get(rc) or "~/.%src" % framework
        return "a setting in %s" % paths, "correct the lines of %s" % paths
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
    reason = surroundings.rule_of(name, environ[name]).reason
    if name in LISTS:
        for part in [each for each in re.split(LISTS[name], environ[name]) if each]:
            real = os.path.realpath(part)
            shorter = surroundings.without(name, real, environ=environ)
            others = [each for each in re.split(LISTS[name], environ[name]) if each != part]
            if shorter and helps(dict(environ, **{name: ":".join(others)})):
                return "%s in %s" % (part, name), shorter
    return "%s=%s, which %s" % (name, environ[name], reason), "unset " + name


def _of_flags(environ, variable, user_flags, error_in):
    """Return the answer for a framework's flags: for the one that matters."""
    flags = flags_of(user_flags)
    for flag in sorted(flags):
        rest = ",".join("%s=%s" % (n, flags[n]) for n in flags if n != flag)
        if error_in(dict(environ, **{variable: rest})) is None:
            setting = "%s=%s" % (flag, flags[flag])
            return "%s in %s" % (setting, variable), "remove %s from %s" % (setting, variable)
    return "%s=%s" % (variable, user_flags), "unset " + variable
