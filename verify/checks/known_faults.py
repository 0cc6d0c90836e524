"""Faults of the framework itself, named instead of their consequences."""

from __future__ import absolute_import, division, print_function

from verify.core.fixes import undo_fix
from verify.core.report import failed, passed, skipped

NAME = "known faults"
# Module: (the framework's name, the version in which the fault was seen).
AMDLIBM = {"pytensor": ("PyTensor", "3.3.7")}


def check(context):
    """Check that no flag is set which breaks this framework."""
    framework = context.framework
    if framework.name not in AMDLIBM:
        return skipped(NAME, "none is known of %s" % framework.name)
    name, version = AMDLIBM[framework.name]
    flag = framework.spelled(framework.amdlibm_flag)
    fault = "%s cannot compile exp, log and sin with %s=True (seen in %s)" % (name, flag, version)
    if framework.flag(framework.amdlibm_flag):
        return failed(NAME, fault, undo_fix(context, framework.amdlibm_flag))
    return passed(NAME, "%s is off: %s" % (flag, fault))
