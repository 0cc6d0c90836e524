"""Ends the import of Theano with an error where it cannot open this environment's device."""

import os
import sys


class _Watch(object):
    """A finder on sys.meta_path that checks theano.gpuarray at the end of its import."""

    def find_spec(self, name, path=None, target=None):
        if name != "theano.gpuarray":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module
            spec.loader.exec_module = lambda module: _run_and_check(run, module)
        return spec


def _run_and_check(run, module):
    import logging

    errors = []

    def keep(record):
        if record.levelname == "ERROR":
            errors.append((sys.exc_info()[1] or record.getMessage(), record))
        return record.levelname != "ERROR"

    logger = logging.getLogger("theano.gpuarray")
    logger.addFilter(keep)
    try:
        run(module)
    finally:
        logger.removeFilter(keep)
    from theano import config

    if config.device.startswith(("cuda", "opencl")) and not module.pygpu_activated:
        cause = str(errors[0][0]) if errors else "logging is disabled, so the reason is not known"
        raise RuntimeError(
            "Theano cannot compute on the device of this environment: %s\n"
            "  to see why: verify the environment; its line `device` says what to do\n"
            "  to compute on the processor instead: THEANO_FLAGS=device=cpu" % cause
        )
    # Of init_gpu_device, or of one of several contexts: the program goes on, as Theano has it.
    for _, record in errors:
        logger.handle(record)


# A program that has the device may start others, such as its workers: Theano computes on the
# processor there, and says so.
if os.environ.get("THEANO_GPU_IS_ALREADY_ACTIVE") != "Yes":
    sys.meta_path.insert(0, _Watch())
