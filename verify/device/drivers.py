"""The devices that the machine's drivers offer, as opencl.py and cuda.py list them."""

from __future__ import absolute_import, division, print_function

from verify.device import cuda, opencl
from verify.device.description import NoDeviceError


def find(name):
    """Return the Device of a value of Theano's flag `device`. Raises NoDeviceError."""
    is_opencl = name.startswith("opencl")
    devices = opencl.devices() if is_opencl else cuda.devices()
    # `cuda` stands for the first one.
    where = "cuda0" if name == "cuda" else name
    for device in devices:
        if device.where == where:
            if not is_opencl:
                cuda.check_capability(device)
            return device
    available = ", ".join("%s (%s)" % (device.where, device.name) for device in devices)
    raise NoDeviceError(
        "there is no device %s; there is: %s" % (name, available),
        "use an available one: THEANO_FLAGS=device=%s" % devices[0].where,
    )
