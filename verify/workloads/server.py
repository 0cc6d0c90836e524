"""The program as somebody else's worker: it compiles once, and is asked for calls again and again.

Compiling may take minutes, a call less than a second. Each line that comes on standard input is a
JSON object, and so is each answer on standard output:

    (once it has compiled)  -> {"ready": [{name, graph, compile, modules, first_call} of each case]}
    {"calls": 100}          -> {"seconds": {case: [seconds of each call]}}
    {"report": true}        -> {"report": the whole report}

It ends when standard input does, and is killed when the process that started it ends in any way:
it may be stopped then, and would never notice.
"""

from __future__ import absolute_import, division, print_function

import io
import json
import os
import sys


def serve(session):
    """Answer the lines of standard input, with a compiled session of `measuring`, to the end."""
    answers = own_output()
    _answer(answers, {"ready": session.compiled()})
    for line in iter(sys.stdin.readline, ""):
        wish = json.loads(line)
        if "calls" in wish:
            _answer(answers, {"seconds": session.call(wish["calls"])})
        else:
            _answer(answers, {"report": session.report()})


def own_output():
    """Return standard output as a file, and lead to standard error what others print there."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return io.open(kept, "wb")


def _answer(file, content):
    file.write((json.dumps(content, sort_keys=True) + "\n").encode("ascii"))
    file.flush()
