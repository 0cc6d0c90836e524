"""One face for Theano 0.8.2 and 1.0.5, Theano-PyMC, Aesara and PyTensor."""

from __future__ import absolute_import, division, print_function

import importlib
import os
import pkgutil
import sys

PY2 = sys.version_info[0] == 2
if not PY2:
    from importlib.util import find_spec

MODULES = ("pytensor", "aesara", "theano")
AMDLIBM_FLAGS = ("lib.amdlibm", "lib.amblibm")


class FrameworkError(Exception):
    """No framework can be imported; `fix` says what would help."""

    def __init__(self, what, fix):
        Exception.__init__(self, what)
        self.fix = fix


class Framework(object):
    """An imported framework. Flags go by Theano's dotted names in every method."""

    def __init__(self, module):
        self.name = module.__name__
        self.module = module
        self.version = module.__version__
        self.config = module.config
        self.tensor = importlib.import_module(self.name + ".tensor")
        self.function_modes = importlib.import_module(self.name + ".compile.mode")
        self.profiling = _first_module(
            self.name + ".compile.profiling", self.name + ".compile.debug.profiling"
        )
        # A user's `profile=True` would print every profile at exit; PyTensor 3 crashes doing it.
        self.config.profile = False

    def flag(self, name):
        """Return the value in force of a flag such as `blas.ldflags`, or None if unknown."""
        try:
            return getattr(self.config, name.replace(".", "__"))
        except AttributeError:
            pass
        value = self.config
        for part in name.split("."):
            value = getattr(value, part, None)
        return value

    @property
    def flags_variable(self):
        """The environment variable that carries flags."""
        return self.name.upper() + "_FLAGS"

    @property
    def rc_variable(self):
        """The environment variable that lists configuration files."""
        return self.name.upper() + "RC"

    @property
    def rc_file(self):
        """The user's configuration file, as a person writes it."""
        return "~/.%src" % self.name

    def spelled(self, flag):
        """Return a flag's name as the flags variable has it."""
        # Theano-PyMC is called theano too, but takes no dots.
        dotted = self.name == "theano" and not hasattr(type(self.config), "blas__ldflags")
        return flag if dotted else flag.replace(".", "__")

    @property
    def amdlibm_flag(self):
        """The flag that turns AMD's LibM on. Theano-PyMC and Aesara spell it with a b."""
        known = [name for name in AMDLIBM_FLAGS if self.flag(name) is not None]
        return known[0] if known else AMDLIBM_FLAGS[0]

    @property
    def linker(self):
        """The linker that runs C where an op has it and Python where it has not."""
        return "cvm" if self.flag("cxx") else "vm"

    @property
    def on_device(self):
        """Say whether it has opened a device, and computes there what it can."""
        return bool(getattr(getattr(self.module, "gpuarray", None), "pygpu_activated", False))

    def mode(self, linker=None):
        """Return the mode of all optimisations with a linker: by default C and virtual machine."""
        mode = self.function_modes.Mode(linker=linker or self.linker, optimizer="fast_run")
        if not self.on_device:
            return mode
        # The settings leave out what would be moved to a device that cannot compute it.
        left_out = str(self.flag("optimizer_excluding") or "").split(":")
        return mode.excluding(*[name for name in left_out if name])

    def function(self, inputs, outputs, updates=None, profile=True, linker=None):
        """Compile a graph with the C virtual machine, all optimisations and a quiet profile."""
        # On a device it warns that it knows only how to time CUDA: see workloads.waiting.
        quiet = {"gpu_checks": False} if self.on_device else {}
        return self.module.function(
            inputs,
            outputs,
            updates=updates,
            mode=self.mode(linker),
            # A profile made by the framework itself would print at exit.
            profile=self.profiling.ProfileStats(atexit_print=False, **quiet) if profile else False,
            on_unused_input="ignore",
        )

    def nodes(self, function):
        """Return the apply nodes of a compiled function in order."""
        return function.maker.fgraph.toposort()

    def implementations(self, function):
        """Return [(node, "C" or "Py" or None if it never ran)] from the function's own profile."""
        known = function.profile.apply_cimpl
        found = []
        for node in self.nodes(function):
            is_c = known.get(node)
            found.append((node, None if is_c is None else "C" if is_c else "Py"))
        return found

    def compile_seconds(self, function):
        """Return (optimiser seconds, C compiler and linker seconds) of a profiled function."""
        profile = function.profile
        optimiser = getattr(profile, "optimizer_time", None)
        if optimiser is None:
            optimiser = profile.rewriting_time
        return optimiser, profile.linker_time

    def batched_dot(self, left, right):
        """Return the symbolic product of two stacks of matrices."""
        for place in (self.tensor, importlib.import_module(self.name + ".tensor.blas")):
            if hasattr(place, "batched_dot"):
                return place.batched_dot(left, right)
        return self.tensor.matmul(left, right)

    def variable(self, kind, dtype, name):
        """Return a symbolic `scalar`, `vector`, `matrix` or `tensor3`."""
        return getattr(self.tensor, kind)(name, dtype=dtype)


def load(wanted=None):
    """Import the framework called `wanted`, or the first that is there.

    Raises FrameworkError where there is none, or where it dies while it is imported.
    """
    failures = []
    for name in (wanted,) if wanted else MODULES:
        if not is_installed(name):
            continue
        try:
            return Framework(importlib.import_module(name))
        except Exception as error:
            failures.append("%s: %s: %s" % (name, type(error).__name__, error))
            if "blas_opt_info" in str(error):
                raise FrameworkError(
                    "import of %s stops at %s: it asks this NumPy for a BLAS that it does not name"
                    % (name, error),
                    "put these lines into ~/.theanorc:\n[blas]\nldflags = -lopenblas",
                )
    if failures:
        raise FrameworkError(
            "import fails: " + "; ".join(failures),
            "install the versions of NumPy and Python that this framework was made for",
        )
    raise FrameworkError(
        "this Python has no %s" % (wanted or "Theano, Aesara or PyTensor"),
        "name the interpreter of the environment that has it",
    )


def _first_module(*names):
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            missing = error
    raise missing


def is_installed(name):
    """Say whether a module of that name can be found, without running it."""
    return pkgutil.find_loader(name) is not None if PY2 else find_spec(name) is not None


def use_compile_folder(folder, names=MODULES):
    """Make every framework compile into `folder` only. To be called before the import."""
    for name in names:
        add_flag(name, "base_compiledir=" + folder)


def share_modules(folder=None):
    """Have an environment of theano-stacks take compiled modules from a folder that it shares.

    None: it compiles all of them itself. To be called before the import.
    """
    os.environ["THEANO_STACKS_MODULES"] = folder or "0"


def add_flag(name, flag):
    """Add a flag behind all that the flags variable of a framework has."""
    variable = name.upper() + "_FLAGS"
    given = os.environ.get(variable, "")
    os.environ[variable] = given + "," + flag if given else flag
