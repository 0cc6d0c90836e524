"""What a user's program spends on compilation, its memory and its profiles, written inside it.

program_hook/sitecustomize.py imports this module. FunctionMaker's constructor optimises a graph,
and its method `create` makes and loads the C code (theano/compile/function_module.py;
compile/function/types.py or compile/maker.py in its descendants). By this module's name the
accelerator knows that what it puts in their place changes no graph (theano_stacks_code.py).
"""

from __future__ import absolute_import, division, print_function

import atexit
import importlib
import io
import json
import os
import resource
import sys
import threading
import time
import types

SCHEMA = 1


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
    seconds, inside = [], threading.local()

    def timed(function):
        def call(*args, **kwargs):
            # A scan compiles its inner function while the outer one is compiled.
            if getattr(inside, "is_true", False):
                return function(*args, **kwargs)
            inside.is_true, start = True, time.time()
            try:
                return function(*args, **kwargs)
            finally:
                inside.is_true = False
                seconds.append(time.time() - start)

        return call

    maker = module.FunctionMaker
    maker.__init__, maker.create = timed(maker.__init__), timed(maker.create)
    atexit.register(lambda: _write(folder, {"compile": sum(seconds), "peak": peak()}))


def _write(folder, content):
    """Write the report of this process: a reader sees all of it or none."""
    path = os.path.join(folder, "%d.json" % os.getpid())
    with io.open(path + ".part", "wb") as file:
        file.write(json.dumps(content, sort_keys=True).encode("ascii"))
    os.rename(path + ".part", path)


class Collector(object):
    """Writes the profiles of all functions of this process when it ends."""

    def __init__(self, framework, profiling, folder):
        """framework: the imported module's name; profiling: its module of profiles."""
        self._framework, self._profiling, self._folder = framework, profiling, folder

    def follow(self):
        """Write at the end; begin anew in each child, which does not run the exit handlers."""
        import multiprocessing.util

        atexit.register(self.write)
        multiprocessing.util.register_after_fork(self, Collector._in_child)

    def _in_child(self):
        import multiprocessing.util

        profiles = _profiles_module()
        # What the parent measured before it forked is in its own report.
        for profile in self._profiling._atexit_print_list:
            profiles.forget(profile)
            profile.compile_time = 0.0
        multiprocessing.util.Finalize(None, self.write, exitpriority=-100)

    def write(self):
        """Write this process's report; a failure is a line on standard error, never an exception.

        The program's own exit status must not change.
        """
        try:
            content = self._content()
            if content["functions"]:
                _write(self._folder, content)
        except Exception as error:
            sys.stderr.write("theano-stacks: no profile of process %d: %r\n" % (os.getpid(), error))

    def _content(self):
        profiles = _profiles_module()
        functions = []
        for profile in self._profiling._atexit_print_list:
            if type(profile).__name__ == "ScanProfileStats":
                # Each is inside the function that calls it.
                continue
            functions.append(
                {
                    "name": str(getattr(profile, "message", None) or "function"),
                    "compile": profiles.compile_times_of(profile),
                    "profile": profiles.of_profile(profile),
                    "memory": profiles.printed(profile, "summary_memory", 20)
                    if getattr(profile, "variable_shape", None)
                    else "",
                    "tips": profiles.printed(profile, "print_tips"),
                }
            )
        functions.sort(key=lambda each: -(each["profile"] or {}).get("seconds", 0.0))
        module = sys.modules.get(self._framework)
        gradient = sys.modules.get(self._framework + ".gradient")
        return {
            "schema": SCHEMA,
            "framework": {"module": self._framework, "version": getattr(module, "__version__", "")},
            "grad_seconds": getattr(gradient, "grad_time", None),
            "functions": functions,
        }


def _profiles_module():
    """Return core/profiles.py, by a name that does not hide a `verify` of the program."""
    package = sys.modules.setdefault("theano_stacks_suite", types.ModuleType("theano_stacks_suite"))
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    return importlib.import_module("theano_stacks_suite.core.profiles")
