"""Run PyTensor's functions on the device that JAX computes on, a GPU if its JAX has one."""

from __future__ import absolute_import, division, print_function

import contextlib
import importlib

from verify.core import framework as frameworks
from verify.core import machine
from verify.device import cuda
from verify.device.description import Device, NoDeviceError

OTHER_LINKER = "omit --linker, or choose another"


def find():
    """Return the Device on which JAX computes. Raises LinkerError if there is no JAX."""
    try:
        jax = importlib.import_module("jax")
        device = jax.devices()[0]
    except (ImportError, RuntimeError) as error:
        raise frameworks.LinkerError(
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
        found = cuda.alone(device.id)
    except NoDeviceError:
        # JAX computes on devices of other makers, too.
        where = "%s%d" % (device.platform, device.id)
        return Device(device.device_kind, version, where, {}, False)
    return found._replace(driver="%s, %s" % (found.driver, version))


def place(function):
    """Move the shared variables of a compiled function to the device.

    PyTensor leaves there what a call updates, but would copy all others at each call.
    """
    jax = importlib.import_module("jax")
    for cell in function.input_storage:
        # An update is stored in this way too: the variable's own method makes NumPy's arrays.
        cell.storage[0] = jax.device_put(cell.storage[0])


@contextlib.contextmanager
def failures(arguments):
    """Raise LinkerError for what JAX cannot compile or run in the body.

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
        raise frameworks.LinkerError(
            "JAX cannot run %s: %s" % (arguments.workload, message),
            OTHER_LINKER + " (--debug prints the whole error)",
        )
