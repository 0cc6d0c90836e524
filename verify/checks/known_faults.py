"""Faults of a framework itself, told plainly instead of by what they lead to."""

from __future__ import absolute_import, division, print_function

from verify.core.report import failed, passed, skipped

NAME = "known faults"
# Module: (its name, where the fault was seen, what else to tell where nothing is wrong).
AMDLIBM = {
    "aesara": ("Aesara", "2.9.4", ""),
    "pytensor": (
        "PyTensor",
        "3.0.7",
        "; misc/check_blas.py crashes without -q: the suite times the same products by itself",
    ),
}


def check(context):
    """Check that no flag is set that this framework is known to break on."""
    framework = context.framework
    if framework.name not in AMDLIBM:
        return skipped(NAME, "none is known of %s" % framework.name)
    name, version, more = AMDLIBM[framework.name]
    flag = framework.spelled(framework.amdlibm_flag)
    fault = "%s cannot compile exp, log and sin with %s=True (seen in %s)" % (name, flag, version)
    if framework.flag(framework.amdlibm_flag):
        return failed(
            NAME,
            fault,
            "take %s out of %s and of %s" % (flag, framework.flags_variable, framework.rc_file),
        )
    return passed(NAME, "%s is off: %s%s" % (flag, fault, more))
