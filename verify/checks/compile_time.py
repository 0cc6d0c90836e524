"""How long it takes to import and to compile, also with each linker; are compiled modules whole?

A full disk, a killed program or a copied home may leave a module cut off. The frameworks find it by
its key and load it without a check, so that each program ends with an ImportError.
"""

from __future__ import absolute_import, division, print_function

import os
import sys

from verify.context import IMPORT
from verify.core import c_code, causes, process, progress
from verify.core.configuration import compile_flags, share_modules, sources_of, take
from verify.core.ends import FULL
from verify.core.fixes import fix_of_words, repair_of, setting_fix, verify_command
from verify.core.packages import import_installed, is_installed
from verify.core.portable import monotonic, native, seconds_of, text
from verify.core.profiles import compile_times_of
from verify.core.report import failed, passed, skipped, timing
from verify.core.surroundings import matching, quote
from verify.theano_stacks_program import peak

# Seconds.
LIMIT = 120
LINKERS_CHECK, MODEL = "linkers", "checks.compile_time:model"
# Linker: the module that it needs.
LINKERS = (("cvm", None), ("numba", "numba"), ("jax", "jax"))
# Seconds; numba compiles the model in 30 s on a free processor.
LINKER_LIMIT = 600
# Of the values, relative. The model's is a sum of 200 terms of one sign in float64, whose rounding
# errors, in any order, come to 5e-14 at most. float32 would be off by 1e-8 or more.
TOLERANCE = 1e-12
ROWS, COLUMNS = 200, 5
# What a framework compiles of its own once, for all functions.
EXTENSIONS = ("gof.cutils", "gof.lazylinker_c", "link.c.cutils", "link.c.lazylinker_c")
MODEL_SAMPLES, CALLS = 5, 1000


def imports(context):
    """Time the import of the framework in two processes; this one has filled the disk's cache."""
    progress.note("timing the import")
    environment = dict(os.environ)
    if "PYTHONPYCACHEPREFIX" not in environment:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-c", IMPORT % {"name": context.framework.name}]

    def once():
        done = process.call(command, LIMIT, environment)
        if done.timed_out:
            raise RuntimeError("the import did not end within %d s" % LIMIT)
        if done.status:
            raise RuntimeError("the import fails: " + done.output.strip()[-200:])

    return [timing("import", "s", [seconds_of(once), seconds_of(once)])]


def compilation(context):
    """Time the compilation of a small function whose modules are not compiled yet.

    From then on modules are shared, and those of the verification before are used.
    """
    progress.note("timing a compilation")
    framework = context.framework
    import_installed(*["%s.%s" % (framework.name, name) for name in EXTENSIONS])
    x, w = (framework.variable("matrix", "float64", name) for name in "xw")
    output = framework.tensor.tanh(framework.tensor.dot(x, w)).sum(axis=0)
    start = monotonic()
    function = framework.function([x, w], [output])
    total = monotonic() - start
    parts = compile_times_of(function.profile)
    share_modules(context.modules)
    if context.verified:
        take(context.verified, str(framework.flag("base_compiledir")))
    return [
        timing("compile", "s", [total]),
        timing("compile: optimiser", "s", [parts["optimiser"]]),
        timing("compile: C compiler and linker", "s", [parts["linker"]]),
    ]


def linkers(context):
    """Compile and time a small model with each installed linker; return (check, [Timing]).

    The check fails where a linker fails, or computes another value than the first one.
    """
    values, timings, missing = {}, [], []
    variable = context.framework.flags_variable
    for linker, module in LINKERS:
        if module and not is_installed(module):
            missing.append(linker)
            continue
        progress.note("compiling a model with the linker %s" % linker)
        # A folder without compiled modules.
        folder = os.path.join(context.folder, linker)
        flags = [os.environ.get(variable), compile_flags(context.framework.name, folder)]
        environment = dict(os.environ, **{variable: ",".join(filter(None, flags))})
        result, done = process.ask(LINKER_LIMIT, environment, MODEL, linker)
        if result is None:
            output = "it ran for %d s" % LINKER_LIMIT if done.timed_out else done.output.strip()
            detail = "linker=%s fails: %s" % (linker, output[-1000:])
            fix = fix_of_words(context, output) or (context.culprit or (None, None))[1]
            if not fix:
                fix = causes.unknown("%s probe %s %s" % (verify_command(), MODEL, linker))
                fix = causes.repaired(fix, context.expectation and repair_of(context))
            return failed(LINKERS_CHECK, detail, fix), timings
        values[linker] = result["value"]
        timings += [
            timing("model, %s: compile and first call" % linker, "s", [result["compile"]]),
            timing("model, %s: step" % linker, "ns", [1e9 * step for step in result["step"]]),
            timing("model, %s: peak memory" % linker, "MB", [result["peak"] / 1e6]),
        ]
    first = values[min(values)]
    # False for one that is no number.
    if not all(abs(value - first) <= TOLERANCE * abs(first) for value in values.values()):
        shown = ", ".join("%s %r" % each for each in sorted(values.items()))
        fix = setting_fix(context, "linker", "cvm")
        return failed(LINKERS_CHECK, "their values differ: " + shown, fix), timings
    detail = " and ".join(sorted(values)) + " compute the same value"
    if missing:
        detail += "; not installed: " + ", ".join(missing)
    return passed(LINKERS_CHECK, detail), timings


def model(linker):
    """Time the log-density of a linear regression and its gradient, as a sampler calls them.

    Return `compile`, the seconds until the first result; `step`, samples of the seconds of a call;
    `peak`, the most memory in bytes, of this process or of a compiler that it starts; and `value`,
    what the model computes.
    """
    import numpy
    import pytensor
    from pytensor import tensor

    random = numpy.random.RandomState(1)
    x = random.standard_normal((ROWS, COLUMNS))
    y = x.sum(axis=1) + random.standard_normal(ROWS)
    point = tensor.vector("point", dtype="float64")
    error = (y - tensor.dot(x, point[:COLUMNS])) / tensor.exp(point[COLUMNS])
    density = (-0.5 * error**2 - point[COLUMNS]).sum() - 0.5 * (point**2).sum()
    gradient = pytensor.gradient.grad(density, point)
    outputs, mode = [density, gradient], linker.upper()
    start = monotonic()
    function = pytensor.function([point], outputs, mode=mode, trust_input=True)
    at = numpy.zeros(COLUMNS + 1)
    value = function(at)
    result = {"compile": monotonic() - start, "value": float(value[0])}
    samples = [seconds_of(lambda: function(at), CALLS) for _ in range(MODEL_SAMPLES)]
    return dict(result, step=[seconds / CALLS for seconds in samples], peak=peak())


FOLDER_CHECK = "compile folder"
# Of a configuration file: %(TMPDIR)s and the like.
INTERPOLATED = "%("
# The modules below a folder that has one for each Python, processor and version.
BASE = "*/*/*.so"


def check_folder(context):
    """Check that every module which the user's programs would load is a whole file."""
    folder, pattern = _folder_of(context)
    if INTERPOLATED in folder:
        return skipped(FOLDER_CHECK, "its name, %s, is another one in each program" % text(folder))
    refused = _refused(context, folder, pattern)
    if refused:
        path, what, step = refused
        return failed(
            FOLDER_CHECK,
            "%s %s" % (text(path), what),
            step + ", or choose another folder before Python starts:\n"
            'export %s="$%s,base_compiledir=FOLDER"' % ((context.framework.flags_variable,) * 2),
        )
    modules = matching(folder, pattern)
    whole = {path for path in modules if c_code.is_cut_off(path) is False}
    broken = [path for path in modules if path not in whole and not _is_in_the_making(path)]
    if not broken:
        return passed(FOLDER_CHECK, "%d modules in %s, all whole" % (len(modules), text(folder)))
    folders = sorted({os.path.dirname(path) for path in broken})
    return failed(
        FOLDER_CHECK,
        "%d of %d modules in %s are cut off: programs that load one end with an ImportError"
        % (len(broken), len(modules), text(folder)),
        "remove them, and the framework compiles them again:\nrm -r -- "
        + text(" ".join(map(quote, folders))),
    )


def _folder_of(context):
    """Return the user's compile folder, and the pattern of its modules.

    The suite itself compiles into another one.
    """
    for flag, pattern in (("compiledir", "*/*.so"), ("base_compiledir", BASE)):
        for _, value in sources_of(context, flag, own=True):
            return os.path.expanduser(native(value)), pattern
    return os.path.expanduser("~/.%s" % context.framework.name), BASE


def _refused(context, folder, pattern):
    """Return (what keeps a program from compiling, why, what to do first), or None."""
    # Below a base is what a program makes, or finds: the suite's own folder has the same name.
    own = os.path.basename(str(context.framework.flag("compiledir") or ""))
    path = os.path.join(folder, own) if pattern == BASE else folder
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    if not os.path.isdir(path):
        return path, "is no folder: each program ends at the import", "remove it"
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return path, "may not be written: each program ends at the import", "make it yours"
    status = os.statvfs(path)
    # Some file systems count no blocks.
    if status.f_blocks and status.f_bavail * status.f_frsize < FULL:
        return path, "is on a full disk: no program can compile", "free some space"
    return None


def _is_in_the_making(path):
    """Return whether a program writes a module now, its key last, or has moved it since."""
    folder = os.path.dirname(path)
    is_new = os.path.basename(folder).startswith("tmp")
    return not os.path.exists(path) or (
        is_new and not os.path.exists(os.path.join(folder, "key.pkl"))
    )
