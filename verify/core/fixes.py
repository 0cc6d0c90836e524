"""How to fix a failed check: the exact line, and the file that it goes into."""

from __future__ import absolute_import, division, print_function

import importlib
import os
import re
import sys

from verify.core import c_code, causes, packages, process, surroundings
from verify.core.configuration import (
    config_file,
    config_lines,
    flags_of,
    options_of,
    section_of,
    sources_of,
)
from verify.core.portable import native

# Optimisations that put calls of BLAS into graphs, by the names that leave them out.
BLAS_NAMES = re.compile("(^|:)(BlasOpt|blas|c_blas|use_c_blas|fast_run|local_dot_to_dot22)(:|$)")
# Of the linker or the loader: no BLAS, or another one than blas.ldflags names.
UNLINKED = re.compile(
    r"cannot find -l(?!python)|undefined symbol: (cblas_)?[sdcz](gemm|gemv|ger|dot|axpy)"
)
# The command that does it, from the builder, which knows by what name a person started it.
REPAIR_VARIABLE = "THEANO_STACKS_REPAIR"
# What `--variant NAME` builds for without `--framework`.
DEFAULT_FRAMEWORK = "theano-1.0.5"
OF_IMAGE = "start a new container from the image, by its digest"
INTACT = "the cause is not recognised; the environment's files are as they were installed"


def explain(error):
    """Return the type of an exception, and the line of its message that names the cause."""
    return ("%s: %s" % (type(error).__name__, process.cause(str(error)))).rstrip(": ")


def explained(context, error):
    """Return (detail, fix) of the exception that is being handled: no function compiles or runs.

    Its own words are read first; then a small program is tried without the variables that may be
    the reason.
    """
    detail = explain(error)
    if context.folder and not os.path.isdir(context.folder):
        fix = "run it again; what cleans that folder: leave out theano-verify-*, or set TMPDIR"
        return "%s was removed meanwhile: %s" % (context.folder, detail), fix
    folder = "-L%s" % getattr(error, "filename", "")
    if UNLINKED.search(str(error)) or folder in str(context.framework.flag("blas.ldflags")).split():
        return detail, ldflags_fix(context)
    found = causes.of_error(error, _facts(context))
    if not (found or has_compiler(context)):
        return detail, compiler_fix(context)
    found = found or context.culprit
    if found:
        what, fix = found
        return "%s: %s" % (detail, what), fix
    if context.expectation:
        return detail, own_fix(context, "blas.ldflags")
    found = causes.damage(_facts(context))
    if found:
        return "%s: %s" % (detail, found.what), found.fix
    return detail, causes.unknown(verify_command() + " --debug")


def fix_of_words(context, words):
    """Return the fix of what a program's messages name, or None if they are not recognised."""
    found = causes.of(words, _facts(context))
    return found.fix if found else None


def _facts(context):
    folders = [context.folder] if context.folder else []
    flags = str(context.framework.flag("blas.ldflags") or "")
    repair = repair_of(context) if context.expectation else None
    return causes.Facts(context.framework.name, context.framework.version, folders, flags, repair)


def verify_command():
    """Return the command that runs the suite with this Python."""
    return "%s %s" % (surroundings.quote(sys.executable), surroundings.quote(process.SUITE))


def setting_fix(context, flag, value):
    """Return how to give a flag a value: what to remove, and the line for the file that wins."""
    framework, before = context.framework, ""
    if flag in flags_of(context.user_flags):
        names = framework.spelled(flag), framework.flags_variable
        before = "remove %s from %s, then " % names
    section, option = section_of(flag)
    path = config_file(context.framework.name)
    options = options_of(os.path.expanduser(native(path)))
    if (section, option.lower()) in options:
        return "%sin %s, put %s = %s" % (before, path, option, value)
    lines = config_lines(section, option, value)
    if (section, "") in options:
        # The frameworks do not read a file that has a section twice.
        line = lines.partition("\n")[2]
        return "%sput this line into %s, below [%s]:\n%s" % (before, path, section, line)
    return "%sput these lines into %s:\n%s" % (before, path, lines)


def undo_fix(context, flag, expected=None):
    """Return how to undo what a person has set a flag to; None if no person has.

    expected: the value to write into the configuration file that wins; None: remove the lines.
    """
    steps = []
    for source, value in sources_of(context, flag):
        section, option = section_of(flag)
        if source == context.framework.flags_variable:
            spelled = context.framework.spelled(flag)
            steps.append("remove %s=%s from %s" % (spelled, value, source))
        elif expected is not None:
            steps.append("in %s, put %s = %s" % (source, option, expected))
            break
        else:
            steps.append("remove from %s:\n%s" % (source, config_lines(section, option, value)))
    return "\n".join(steps) or None


def own_fix(context, flag):
    """Return how to give a flag the value of the environment that the builder has made."""
    own = context.expectation.get("flags", {}).get(flag)
    return undo_fix(context, flag, own) or repair_of(context)


def flag_fix(context, flag, value):
    """Return how to give a flag the environment's own value, or in a diagnosis `value`."""
    return own_fix(context, flag) if context.expectation else setting_fix(context, flag, value)


def without_flags(context, harmful):
    """Return how to take options of the compiler out of its flags; None if they lack them.

    It gets those of blas.ldflags, too, by which it links. harmful: the regular expression of an
    option.
    """
    for flag in ("gcc.cxxflags", "blas.ldflags"):
        words = str(context.framework.flag(flag) or "").split()
        kept = [word for word in words if not re.match("(?:%s)$" % harmful, word)]
        if kept != words:
            return flag_fix(context, flag, " ".join(kept))
    return None


def ldflags_fix(context):
    """Return how to link the framework with a fast BLAS on this machine; a baseline with none.

    Flags are named that were tried here, and that are not the ones in force.
    """
    if context.expectation:
        return own_fix(context, "blas.ldflags")
    present, cxx = (str(context.framework.flag(n) or "").strip() for n in ("blas.ldflags", "cxx"))
    if present and not cxx:
        # The line is there: what is missing is what links it.
        return compiler_fix(context)
    is_tried = cxx and context.folder
    try:
        for flags in packages.link_flags():
            if flags != present and not (is_tried and c_code.link(cxx, flags, context.folder)):
                return setting_fix(context, "blas.ldflags", flags)
    except c_code.NoCompilerError:
        return compiler_fix(context)
    flags = "-lopenblas"
    setting = setting_fix(context, "blas.ldflags", flags) if flags != present else None
    return packages.install_fix(setting)


def policy_fix(context):
    """Return how to undo the policy of types with which sums lose terms; None without it.

    All of float32 there has a factor, 1.0, of float64: see WRONG_RESULTS in framework_faults.py.
    """
    flags = [context.framework.flag(name) for name in ("cast_policy", "floatX")]
    return undo_fix(context, "cast_policy") if flags == ["numpy+floatX", "float64"] else None


def library_fix(context):
    """Return how to have another library compute matrix products than the one that does."""
    fix = policy_fix(context)
    if fix:
        return fix
    fix = surroundings.loader_fix([context.serving.path] if context.serving else [])
    if fix:
        return fix
    excluded = str(context.framework.flag("optimizer_excluding") or "")
    fix = undo_fix(context, "optimizer_excluding") if BLAS_NAMES.search(excluded) else None
    if fix:
        return fix
    if context.framework.name == "numpy" or context.is_by_numba:
        return package_fix("NumPy", context.serving)
    if context.has_ldflags and not context.expectation:
        flags = context.framework.flag("blas.ldflags")
        return "the flags %r lead to it; %s" % (flags, ldflags_fix(context))
    return ldflags_fix(context)


def package_fix(name, serving):
    """Return how to get a NumPy, or a SciPy, that calls a fast BLAS.

    serving: the Library that it calls, or None.
    """
    module = importlib.import_module(name.lower())
    if serving and serving.name == "openblas":
        # It is what each of these would install.
        words = (surroundings.quote(sys.executable), module.__name__)
        return causes.unknown("%s -c 'import %s as m; m.show_config()'" % words)
    if os.path.dirname(module.__file__).startswith("/usr/lib/python3/dist-packages"):
        return (
            "install OpenBLAS, which then serves every program in place of the reference BLAS:\n"
            "apt install libopenblas0"
        )
    # Also in a conda environment it may be pip's.
    if surroundings.matching(sys.prefix, "conda-meta/%s-*.json" % module.__name__):
        return "take OpenBLAS for %s:\nconda install 'libblas=*=*openblas'" % name
    package = module.__name__
    command = packages.pip_command(again=True) + " --no-deps --only-binary %s " % package
    command += "%s==%s" % (package, module.__version__)
    return "install %s's wheel, which has OpenBLAS in it:\n%s" % (name, command)


def has_compiler(context):
    """Return whether the framework has a compiler that compiles anything."""
    return _compiles(context.framework.flag("cxx"), context.folder)


def _compiles(compiler, folder):
    try:
        return not c_code.link(compiler, "", folder)
    except c_code.NoCompilerError:
        return False


def compiler_fix(context):
    """Return how to give the framework a C++ compiler that works."""
    undo = undo_fix(context, "cxx")
    if context.culprit and not undo:
        # It is found, but a variable leads it to another one's files.
        return context.culprit[1]
    if context.expectation:
        return own_fix(context, "cxx")
    found = packages.program("g++", lambda path: _compiles(path, context.folder))
    if found:
        return undo or setting_fix(context, "cxx", found)
    framework, again = context.framework, " again" if packages.program("g++") else ""
    command = packages.compiler_command(framework.name, framework.version)
    install = "install a C++ compiler%s%s" % (again, command)
    return "\n".join(step for step in (undo, install) if step)


def repair_of(context):
    """Return how to put the environment's files back, or that they are as they were installed."""
    if context.is_whole:
        full = "" if context.full else "; --full reads each of them again"
        return INTACT + surroundings.first_try() + full
    return repair_fix(context.expectation)


def repair_fix(expectation):
    """Return how to put an environment's files back; of an image, which cannot, what to do.

    expectation: the builder's, or None if it is damaged.
    """
    command, program = os.environ.get(REPAIR_VARIABLE), packages.builder()
    if not (command or program):
        return OF_IMAGE
    if not command:
        names = expectation or {"variant": "NAME", "framework": "FRAMEWORK"}
        command = "%s build --variant %s" % (program, names["variant"])
        if names["framework"] != DEFAULT_FRAMEWORK:
            command += " --framework " + names["framework"]
        command += " --repair"
    return "put the files back:\n" + command
