"""Serve calls of a compiled workload to the process that started this one, for the bench.

Compiling may take minutes, a call less than a second. A request is a line on standard input with a
JSON object, and so is its response on standard output; the first response needs no request:

    (compiled)      -> {"ready": [{name, graph, compile} of each case, as in the report]}
    {"calls": 100}  -> {"seconds": {case: [seconds of each call]}}

The server ends with its standard input. The system kills it when the process that started it ends
(process.end_with_parent), as it may be suspended then and would not notice.
"""

from __future__ import absolute_import, division, print_function

import io
import json
import os
import sys


def serve(workload_run):
    """Respond to the requests on standard input until its end, with a WorkloadRun."""
    responses = take_stdout()
    _respond(responses, {"ready": workload_run.compiled()})
    for line in iter(sys.stdin.readline, ""):
        _respond(responses, {"seconds": workload_run.call(json.loads(line)["calls"])})


def take_stdout():
    """Return standard output as a file, and redirect all that is printed to standard error."""
    sys.stdout.flush()
    descriptor = os.dup(1)
    os.dup2(2, 1)
    return io.open(descriptor, "wb")


def _respond(file, content):
    file.write((json.dumps(content, sort_keys=True) + "\n").encode("ascii"))
    file.flush()
