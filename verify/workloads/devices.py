"""Run functions on a device, and wait for it, so that a clock measures its operations.

A node that runs on a device returns before its operation is done: its time is that of the launch,
and the next node that needs a result pays for all before it. Theano's remedy, CUDA_LAUNCH_BLOCKING,
is for CUDA alone. Here each node waits for its results, on any device. PyTensor's functions run
where JAX computes, on a GPU if its JAX has one.
"""

from __future__ import absolute_import, division, print_function

import contextlib
import importlib

from verify.core import framework as frameworks
from verify.core import graph, machine
from verify.device import drivers
from verify.device.drivers import Device

# The linker whose thunks Python can replace; they run the same C code.
LINKER = "vm"
OTHER_LINKER = "omit --linker, or choose another"


class _SynchronousThunk(object):
    """A node's thunk that returns when its results are computed."""

    def __init__(self, thunk):
        self._thunk = thunk

    def __call__(self):
        result = self._thunk()
        for cell in self._thunk.outputs:
            sync = getattr(cell[0], "sync", None)
            if sync is not None:
                sync()
        return result

    def __getattr__(self, name):
        # Theano's profiles and errors read attributes of thunks.
        return getattr(self._thunk, name)


def at_each_node(function):
    """Make a function of LINKER, and those of its scans, wait for the device after each node."""
    for each in graph.functions_in(function):
        machine = graph.machine_of(each)
        machine.thunks = [_SynchronousThunk(thunk) for thunk in machine.thunks]


def for_results(function, value):
    """Wait for the updates of a call, and for its output `value` where JAX leaves it there."""
    sync = getattr(function, "sync_shared", None)
    if sync is not None:
        # Theano's outputs are on the host already.
        sync()
        return
    cells = getattr(function, "input_storage", ())
    for array in [value] + [cell.storage[0] for cell in cells]:
        ready = getattr(array, "block_until_ready", None)
        if ready is not None:
            ready()


def find_jax():
    """Return the Device on which JAX computes. Raises FrameworkError if there is no JAX."""
    try:
        jax = importlib.import_module("jax")
        device = jax.devices()[0]
    except (ImportError, RuntimeError) as error:
        raise frameworks.FrameworkError(
            "JAX cannot be used: %s" % error,
            "install jax into this environment; or " + OTHER_LINKER,
        )
    version = "JAX " + jax.__version__
    # A GPU may round the factors of float32 products unless this says otherwise.
    precision = getattr(jax.config, "jax_default_matmul_precision", None)
    if precision:
        version += ", products in precision %s" % precision
    if device.platform == "cpu":
        return Device(machine.describe({})["cpu"], version, "cpu", {}, True)
    try:
        found = drivers.cuda_device(device.id)
    except frameworks.FrameworkError:
        # JAX computes on devices of other makers, too.
        where = "%s%d" % (device.platform, device.id)
        return Device(device.device_kind, version, where, {}, False)
    return found._replace(driver="%s, %s" % (found.driver, version))


def place_on_jax(function):
    """Move the shared variables of a compiled function to the device.

    PyTensor leaves there what a call updates, but would copy all others at each call.
    """
    jax = importlib.import_module("jax")
    for cell in function.input_storage:
        # An update is stored in this way too: the variable's own method makes NumPy's arrays.
        cell.storage[0] = jax.device_put(cell.storage[0])


@contextlib.contextmanager
def jax_failures(arguments):
    """Raise FrameworkError for what JAX cannot compile or run in the body.

    arguments: with `linker`, only that of JAX matters, and `debug`, which lets all through.
    """
    try:
        yield
    except (EnvironmentError, frameworks.FrameworkError):
        raise
    except Exception as error:
        if arguments.linker != frameworks.JAX or arguments.debug:
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        message = "%s: %s" % (type(error).__name__, lines[0] if lines else "without a message")
        raise frameworks.FrameworkError(
            "JAX cannot run %s: %s" % (arguments.workload, message),
            OTHER_LINKER + " (--debug prints the whole error)",
        )
