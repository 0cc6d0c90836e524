"""What holds for all tests, set when this is loaded."""

import os
import signal
import warnings

# A shell's background ignores ctrl-C, and nohup a hang-up; what the tests start and interrupt must
# not inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A machine's own choice of a library's kernels is not what the tests are about.
for variable in ("OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR"):
    os.environ.pop(variable, None)

# What one test has compiled would hide from the next that nothing can be compiled.
os.environ["THEANO_STACKS_MODULES"] = "0"

# What conda-lock carries of conda warns of conda's own plans when it is loaded.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import conda_lock.lockfile
    import conda_lock.models.channel  # noqa: F401
