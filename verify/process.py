"""Programs that are run to their end, or ended when their time is up."""

from __future__ import absolute_import, division, print_function

import collections
import subprocess
import threading

Done = collections.namedtuple("Done", "status output timed_out")


def call(words, seconds, environment=None):
    """Run a program and return a Done with its status and both its streams as one text.

    Raises OSError where the program cannot be started.
    """
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    late = []

    def end():
        late.append(True)
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        output = process.communicate()[0]
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        timer.cancel()
    return Done(process.returncode, output.decode("utf-8", "replace"), bool(late))
