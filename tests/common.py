"""What holds for all tests, set when this is loaded."""

from __future__ import annotations

import os
import signal
import warnings

# A shell that starts the tests in its background has them ignore ctrl-C, and so would what they
# start in order to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What one test has compiled would hide from the next that nothing can be compiled.
os.environ["THEANO_STACKS_MODULES"] = "0"

# What conda-lock carries of conda warns of conda's own plans when it is loaded.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import conda_lock.lockfile
    import conda_lock.models.channel  # noqa: F401
