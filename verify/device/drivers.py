"""The devices that the machine's drivers offer, as opencl.py and cuda.py list them."""

from __future__ import absolute_import, division, print_function

import collections
import io

# where: its name in Theano's flag `device`; peaks: {precision: nominal GFLOP/s}, where known;
# is_cpu: whether it is the host's own processor.
Device = collections.namedtuple("Device", "name driver where peaks is_cpu")


class NoDeviceError(Exception):
    """There is no such device; `fix` says what to install or to pass."""

    def __init__(self, message, fix):
        Exception.__init__(self, message)
        self.fix = fix


def find(name):
    """Return the Device of a value of Theano's flag `device`. Raises NoDeviceError."""
    # They import from here.
    from verify.device import cuda, opencl

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


def text_of(path):
    """Return the text of a file, empty if it cannot be read."""
    try:
        with io.open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (OSError, IOError):
        return ""
