"""Wait for the device, so that a clock measures its operations.

A node that runs on a device returns before its operation is done: its time is that of the launch,
and the next node that needs a result pays for all before it. Theano's remedy, CUDA_LAUNCH_BLOCKING,
is for CUDA alone. Here each node waits for its results, on any device.
"""

from __future__ import absolute_import, division, print_function

from verify.workloads import graph

# The linker whose thunks Python can replace; they run the same C code.
LINKER = "vm"


class _SynchronousThunk(object):
    """A node's thunk that returns when its results are computed."""

    def __init__(self, thunk):
        self._thunk = thunk

    def __call__(self):
        result = self._thunk()
        for cell in self._thunk.outputs:
            wait(cell[0])
        return result

    def __getattr__(self, name):
        # Theano's profiles and errors read attributes of thunks.
        return getattr(self._thunk, name)


def wait(value):
    """Wait until an array of the device is computed; do nothing for any other value."""
    sync = getattr(value, "sync", None)
    if sync is not None:
        sync()


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
