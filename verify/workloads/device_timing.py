"""Times of a device: its operations are asked for, and return before they are done.

So a clock that stops when a node has returned shows what asking took, and the next node that needs
a result pays for all before it. Theano's own remedy, CUDA_LAUNCH_BLOCKING, is CUDA's alone. Here
the node itself waits until its results are there, whatever the device is.
"""

from __future__ import absolute_import, division, print_function

from verify.workloads import graph

# In this one the thunks are Python's to replace; they run the same C code.
LINKER = "vm"


class _Waiting(object):
    """A node's thunk that returns when what it computes is there."""

    def __init__(self, thunk):
        self._thunk = thunk

    def __call__(self):
        returned = self._thunk()
        for cell in self._thunk.outputs:
            wait(cell[0])
        return returned

    def __getattr__(self, name):
        # The profile asks it whether it is C, an exception for its inputs.
        return getattr(self._thunk, name)


def wait(value):
    """Return when an array of the device is computed; at once for any other value."""
    sync = getattr(value, "sync", None)
    if sync is not None:
        sync()


def at_each_node(function):
    """Have a function of LINKER, and those of its scans, wait for the device after each node."""
    for each in graph.functions_in(function):
        machine = graph.machine_of(each)
        machine.thunks = [_Waiting(thunk) for thunk in machine.thunks]


def for_updates(function):
    """Return when all that a call has computed is there: what it returns is on the host already."""
    sync = getattr(function, "sync_shared", None)
    if sync is not None:
        sync()
