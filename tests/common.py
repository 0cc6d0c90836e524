"""What holds for all tests, set when this is loaded."""

from __future__ import annotations

import signal
import warnings

# A shell that starts the tests in its background has them ignore ctrl-C, and so would what they
# start in order to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What conda-lock carries of conda warns of conda's own plans when it is loaded.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import conda_lock.lockfile
    import conda_lock.models.channel  # noqa: F401
