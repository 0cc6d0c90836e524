"""Faults of the framework itself, named instead of their consequences."""

from __future__ import absolute_import, division, print_function

import collections

from verify.core import pythons
from verify.core.fixes import undo_fix
from verify.core.report import failed, passed, skipped

NAME = "known faults"
# Module: (the framework's name, the version in which the fault was seen).
AMDLIBM = {"pytensor": ("PyTensor", "3.3.7")}

# Wrong numbers without an error, which no setting undoes. first, last: the versions that have it.
WrongResult = collections.namedtuple("WrongResult", "module first last fault instead")
UNTIL = "the gradient of a scan that ends by `until` is wrong"
NO_UNTIL = "give the scan its number of steps, and mask what comes after the end"
# Compared with finite differences on Theano 0.8.2 and 1.0.5, Theano-PyMC 1.1.2, Aesara 2.9.3 and
# PyTensor 2.38.3. PyTensor 3.3.7 and 3.3.8 are right.
WRONG_RESULTS = (
    WrongResult("theano", (0, 8), (1, 1, 2), UNTIL, NO_UNTIL),
    WrongResult("aesara", (2,), (2, 9, 3), UNTIL, NO_UNTIL),
    WrongResult("pytensor", (2,), (2, 38, 3), UNTIL, NO_UNTIL),
)


def check(context):
    """Check that no flag is set which breaks this framework; name its wrong results."""
    framework = context.framework
    wrong = wrong_results(framework.name, framework.version)
    named = "; ".join("%s: %s" % (row.fault, row.instead) for row in wrong)
    if framework.name not in AMDLIBM:
        return passed(NAME, named) if named else skipped(NAME, "none of this version")
    name, version = AMDLIBM[framework.name]
    flag = framework.spelled(framework.amdlibm_flag)
    fault = "%s cannot compile exp, log and sin with %s=True (seen in %s)" % (name, flag, version)
    if framework.flag(framework.amdlibm_flag):
        return failed(NAME, fault, undo_fix(context, framework.amdlibm_flag))
    return passed(NAME, "; ".join(["%s is off: %s" % (flag, fault)] + [named] * bool(named)))


def wrong_results(module, version):
    """Return the WrongResults of a framework's version."""
    number = pythons.number(version)
    return [
        row for row in WRONG_RESULTS if row.module == module and row.first <= number <= row.last
    ]
