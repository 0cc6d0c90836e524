"""Faults of a framework itself, told plainly instead of by what they lead to."""

from __future__ import absolute_import, division, print_function

from verify.report import failed, passed, skipped

NAME = "known faults"
AMDLIBM = "PyTensor cannot compile exp, log and sin with lib__amdlibm=True (seen in 3.0.7)"


def check(context):
    """Check that no flag is set that this framework is known to break on."""
    if context.framework.name != "pytensor":
        return skipped(NAME, "none is known of %s" % context.framework.name)
    if context.framework.flag("lib.amdlibm"):
        return failed(
            NAME,
            AMDLIBM,
            "take lib__amdlibm out of %s and of %s"
            % (context.framework.flags_variable, context.framework.rc_file),
        )
    return passed(
        NAME,
        "lib__amdlibm is off: %s; misc/check_blas.py crashes without -q: the suite times the same "
        "products by itself" % AMDLIBM,
    )
