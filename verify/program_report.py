"""The profiles of a person's own program as JSON; made inside it, by program_hook/sitecustomize."""

from __future__ import absolute_import, division, print_function

import io
import json
import os
import sys
import types

SCHEMA = 1


class Collector(object):
    """Writes the profiles of all functions of this process when it ends."""

    def __init__(self, framework, profiling, folder):
        """framework: the imported module's name; profiling: its module of profiles."""
        self._framework, self._profiling, self._folder = framework, profiling, folder

    def follow_children(self):
        """Begin anew in each child, which does not run the parent's exit handlers."""
        import multiprocessing.util

        multiprocessing.util.register_after_fork(self, Collector._in_child)

    def _in_child(self):
        import multiprocessing.util

        # What the parent measured before it forked is in its own report.
        for profile in self._profiling._atexit_print_list:
            profile.fct_callcount, profile.fct_call_time, profile.vm_call_time = 0, 0.0, 0.0
            profile.compile_time = 0.0
            for table in (profile.apply_time, profile.apply_callcount):
                table.clear()
            if hasattr(profile, "nbsteps"):
                profile.callcount, profile.nbsteps, profile.call_time = 0, 0, 0.0
        multiprocessing.util.Finalize(None, self.write, exitpriority=-100)

    def write(self):
        """Write this process's report; a failure is a line on standard error, never an exception.

        The program's own exit status must not change.
        """
        try:
            content = self._content()
            if content["functions"]:
                path = os.path.join(self._folder, "%d.json" % os.getpid())
                with io.open(path + ".part", "wb") as file:
                    file.write(json.dumps(content, sort_keys=True).encode("ascii"))
                os.rename(path + ".part", path)
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
    """Return verify.workloads.profiles, also where the program has a `verify` of its own."""
    saved = {n: m for n, m in sys.modules.items() if n == "verify" or n.startswith("verify.")}
    for name in saved:
        del sys.modules[name]
    package = types.ModuleType("verify")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["verify"] = package
    try:
        from verify.workloads import profiles
    finally:
        for name in [n for n in sys.modules if n == "verify" or n.startswith("verify.")]:
            del sys.modules[name]
        sys.modules.update(saved)
    return profiles
