"""One interface to Theano 0.8.2 and 1.0.5, Theano-PyMC, Aesara, PyTensor, and NumPy alone."""

from __future__ import absolute_import, division, print_function

import contextlib
import importlib
import os
import sys
import warnings

from verify.core import causes, surroundings
from verify.core.configuration import MODULES, NUMBA
from verify.core.packages import is_installed
from verify.core.portable import text

JAX = "jax"
# These compile a whole graph, and keep no profile of its nodes.
WHOLE_GRAPH = (NUMBA, JAX)
AMDLIBM_FLAGS = ("lib.amdlibm", "lib.amblibm")
# Characters of an error that are shown.
LONGEST = 500


class FrameworkError(Exception):
    """The framework, or what was asked of it, is not available; `fix` says what to do.

    name, message: of the one whose import fails, and its error; None if none is installed.
    """

    name = message = None

    def __init__(self, message, fix):
        Exception.__init__(self, message)
        self.fix = fix


class LoadedFramework(object):
    """An imported framework. Every method takes flags by Theano's dotted names."""

    def __init__(self, module):
        self.name = module.__name__
        self.module = module
        self.version = module.__version__
        self.config = module.config
        self.tensor = importlib.import_module(self.name + ".tensor")
        self.function_modes = importlib.import_module(self.name + ".compile.mode")
        try:
            self.profiling = importlib.import_module(self.name + ".compile.profiling")
        except ImportError:
            self.profiling = importlib.import_module(self.name + ".compile.debug.profiling")
        # A user's `profile=True` would print every profile at exit, which crashes PyTensor 3.
        self.config.profile = False
        # The suite's variables have no test values, and it computes in float64 on purpose.
        for flag, value in (("compute_test_value", "off"), ("warn_float64", "ignore")):
            if self.flag(flag) is not None:
                setattr(self.config, flag, value)

    def flag(self, name):
        """Return the present value of a flag such as `blas.ldflags`, or None if it is unknown."""
        try:
            return getattr(self.config, name.replace(".", "__"))
        except AttributeError:
            pass
        except EnvironmentError:
            # PyTensor starts the compiler that the user names, to find the default.
            return None
        value = self.config
        for part in name.split("."):
            value = getattr(value, part, None)
        return value

    @property
    def flags_variable(self):
        """The environment variable that carries flags."""
        return self.name.upper() + "_FLAGS"

    def spelled(self, flag):
        """Return a flag's name as the flags variable takes it."""
        # Theano-PyMC is also the module `theano`, but takes no dots.
        dotted = self.name == "theano" and not hasattr(type(self.config), "blas__ldflags")
        return flag if dotted else flag.replace(".", "__")

    @property
    def amdlibm_flag(self):
        """The flag that turns AMD's LibM on. Theano-PyMC and Aesara spell it with a b."""
        names = [name for name in AMDLIBM_FLAGS if self.flag(name) is not None]
        return (names or AMDLIBM_FLAGS)[0]

    @property
    def linker(self):
        """The linker that runs an op's C code, or its Python code where it has no C."""
        return "cvm" if self.flag("cxx") else "vm"

    @property
    def runs_numba(self):
        """Whether its default is numba: so it is in PyTensor 3, unless a flag sets another."""
        if self.name != "pytensor":
            return False
        return type(self.function_modes.get_default_mode().linker).__name__ == "NumbaLinker"

    @property
    def grad_seconds(self):
        """The seconds in all calls of grad() so far, None if the framework does not count them."""
        return getattr(sys.modules.get(self.name + ".gradient"), "grad_time", None)

    @property
    def on_device(self):
        """Whether it has opened a device, and computes there."""
        return bool(getattr(getattr(self.module, "gpuarray", None), "pygpu_activated", False))

    def mode(self, linker=None, excluding=()):
        """Return the mode with a linker, by default the virtual machine, and all optimisations.

        excluding: names of optimisations that it leaves out. Raises FrameworkError if the framework
        has no JAX.
        """
        if linker == JAX:
            # XLA fuses itself, and cannot call BLAS: the framework's mode leaves such things out.
            mode = self.function_modes.predefined_modes.get("JAX")
            if mode is None:
                words = (self.name, self.version, JAX)
                raise FrameworkError("%s %s has no linker %s" % words, "use PyTensor")
        else:
            linker = linker or self.linker
            mode = self.function_modes.Mode(linker=linker, optimizer="fast_run")
        # The user's programs are compiled without these, as are those of a device that cannot
        # compute them.
        own = str(self.flag("optimizer_excluding") or "").split(":")
        excluded = [name for name in own if name] + list(excluding)
        return mode.excluding(*excluded) if excluded else mode

    def function(self, inputs, outputs, updates=None, profile=True, linker=None, excluding=()):
        """Compile a graph with the C virtual machine, all optimisations and a quiet profile.

        linker, excluding: as `mode` takes them.
        """
        # On a device it warns that it can time CUDA only: see workloads/devices.py.
        quiet = {"gpu_checks": False} if self.on_device else {}
        return self.module.function(
            inputs,
            outputs,
            updates=updates,
            mode=self.mode(linker, excluding),
            # A profile that the framework makes would print at exit.
            profile=self.profiling.ProfileStats(atexit_print=False, **quiet) if profile else False,
            on_unused_input="ignore",
        )

    @contextlib.contextmanager
    def collecting(self, is_on):
        """Set whether functions that are compiled in the body free results as soon as possible."""
        before, self.config.allow_gc = self.config.allow_gc, is_on
        try:
            yield
        finally:
            self.config.allow_gc = before

    def implementations(self, function):
        """Return [(node, "C", "Py", or None if it never ran)] from the function's profile."""
        is_c = function.profile.apply_cimpl
        return [
            (node, ("C" if is_c[node] else "Py") if node in is_c else None)
            for node in function.maker.fgraph.toposort()
        ]

    def has_blas_op(self, classes):
        """Return whether the framework has one of these classes of BLAS operations."""
        module = importlib.import_module(self.name + ".tensor.blas")
        return any(hasattr(module, name) for name in classes)

    def batched_dot(self, left, right):
        """Return the symbolic product of two stacks of matrices."""
        for module in (self.tensor, importlib.import_module(self.name + ".tensor.blas")):
            if hasattr(module, "batched_dot"):
                return module.batched_dot(left, right)
        return self.tensor.matmul(left, right)

    def apply(self, name, x):
        """Return the symbolic result of the function `name` of x; softmax is that of each row."""
        if name != "softmax" and hasattr(self.tensor, name):
            return getattr(self.tensor, name)(x)
        place = ".tensor.special" if self.name == "pytensor" else ".tensor.nnet"
        options = {} if self.name == "theano" else {"axis": -1}
        return getattr(importlib.import_module(self.name + place), name)(x, **options)

    def scan(self, step, **options):
        """Return ([output], [(shared variable, update)]) of a scan; options: further arguments."""
        scan = self.module.scan
        scan = scan if callable(scan) else scan.scan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs, updates = scan(step, **options)
        outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return outputs, list(updates.items())

    def variable(self, kind, dtype, name):
        """Return a symbolic `scalar`, `vector`, `matrix` or `tensor3`."""
        return getattr(self.tensor, kind)(name, dtype=dtype)


def load(requested=None, repair=None, or_numpy=False):
    """Import the module `requested`, or the first installed of MODULES; return a LoadedFramework.

    repair: how the builder puts the files of its environment back, None of another environment.
    or_numpy: return NumPyAlone where there is none. Raises FrameworkError, with the name of the one
    whose import fails: another one that is installed does not hide it.
    """
    names = (requested,) if requested else MODULES + (NumPyAlone.name,) * or_numpy
    name = next((each for each in names if is_installed(each)), None)
    if name is None:
        others = [each for each in surroundings.OTHER_PYTHON if os.environ.get(each)]
        raise FrameworkError(
            "this Python has no %s" % (requested or "Theano, Aesara, PyTensor or NumPy"),
            "unset " + " ".join(others) + ": it makes another Python of this one"
            if others
            else "run verify with the Python of the environment that has it",
        )
    try:
        module = importlib.import_module(name)
        return NumPyAlone(module) if name == NumPyAlone.name else LoadedFramework(module)
    except Exception as error:
        facts = causes.Facts(name, repair=repair)
        cause, message = causes.of_error(error, facts), causes.message_of(error)
        cause = cause or causes.damage(facts)
        # Of a long message the line that names the cause.
        message = next((line for line in message.splitlines() if causes.of(line, facts)), message)
        # Theano writes all that the compiler has printed into one.
        message = message[:LONGEST] + " ..." * (len(message) > LONGEST)
        words = (name, message, "\n  cause: " + cause.what if cause else "")
        program = "%s -c 'import %s'" % (surroundings.quote(text(sys.executable)), name)
        fix = cause.fix if cause else causes.unknown(program)
        failure = FrameworkError("import of %s fails: %s%s" % words, fix)
        failure.name, failure.message = name, message
        raise failure


class NumPyAlone(object):
    """Stands for a LoadedFramework: NumPy computes, and no code is compiled but the suite's own."""

    name = "numpy"
    runs_numba = False

    def __init__(self, module):
        self.module, self.version = module, module.__version__

    def flag(self, name):
        """Return the compiler of the suite's own code; every other flag is unknown."""
        return "g++" if name == "cxx" else None
