"""The time that a person's own program spends in the compilation of functions, and its memory.

FunctionMaker's constructor optimises a graph, and its method `create` makes and loads the C code
(theano/compile/function_module.py; compile/function/types.py or compile/maker.py in its
descendants). By this module's name the accelerator knows that what it puts in their place changes
no graph (theano_stacks_code.py).
"""

from __future__ import absolute_import, division, print_function

import atexit
import json
import os
import resource
import threading
import time


class Watch(object):
    """Adds the seconds in the outermost calls of some functions, in all threads."""

    def __init__(self):
        self.seconds = 0.0
        self._local = threading.local()

    def wrap(self, function):
        """Return a function that does the same, and is timed."""

        def timed(*args, **kwargs):
            # A scan compiles its inner function while the outer one is compiled.
            if getattr(self._local, "is_inside", False):
                return function(*args, **kwargs)
            self._local.is_inside = True
            start = time.time()
            try:
                return function(*args, **kwargs)
            finally:
                self._local.is_inside = False
                self.seconds += time.time() - start

        return timed


def peak():
    """Return the most memory of this process, or of one that it has started, in bytes.

    getrusage(2) would count that of the process that started this one: it survives execve(2).
    """
    with open("/proc/self/status") as file:
        [line] = [line for line in file if line.startswith("VmHWM:")]
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return 1024 * max(int(line.split()[1]), children)


def watch(module, folder):
    """Time a module's FunctionMaker; write seconds and peak to folder/PID.json at the end."""
    clock = Watch()
    maker = module.FunctionMaker
    maker.__init__ = clock.wrap(maker.__init__)
    maker.create = clock.wrap(maker.create)

    def write():
        path = os.path.join(folder, "%d.json" % os.getpid())
        with open(path, "w") as file:
            file.write(json.dumps({"compile": clock.seconds, "peak": peak()}))

    atexit.register(write)
