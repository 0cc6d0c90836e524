"""What is said of a device, and of its absence."""

from __future__ import absolute_import, division, print_function

import collections

# where: its name in Theano's flag `device`; peaks: {precision: nominal GFLOP/s}, where known;
# is_cpu: whether it is the host's own processor.
Device = collections.namedtuple("Device", "name driver where peaks is_cpu")


class NoDeviceError(Exception):
    """There is no such device; `fix` says what to install or to pass."""

    def __init__(self, message, fix):
        Exception.__init__(self, message)
        self.fix = fix
