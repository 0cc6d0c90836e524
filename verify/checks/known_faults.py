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
# (fault, what to do instead, ((module, first, last), ...)). All tried on CPU in the environments of
# Theano 0.8.2 and 1.0.5, Theano-PyMC 1.1.2, Aesara 2.8.7, PyTensor 2.38.3 and 3.3.7; the gradients
# of `until` on Aesara 2.9.3 and PyTensor 3.3.8, too.
FAULTS = (
    (
        # Theano's issue 5439, PyTensor's pull request 2217.
        "the gradient of a scan that ends by `until` is wrong",
        "give the scan its number of steps, and mask what comes after the end",
        (
            ("theano", (0, 8), (1, 1, 2)),
            ("aesara", (2,), (2, 9, 3)),
            ("pytensor", (2,), (2, 38, 3)),
        ),
    ),
    (
        # PyTensor's issue 1772. Theano and Aesara refuse it.
        "the third derivative of a scan is wrong",
        "write the loop of a fixed number of steps in Python",
        (("pytensor", (2,), (2, 38, 3)),),
    ),
    (
        # PyTensor's pull request 484.
        "prod(s * x, axis=...) of a scalar s raises s to the number of all elements",
        "write s ** x.shape[axis] * prod(x, axis=axis)",
        (("theano", (0, 8), (1, 1, 2)), ("aesara", (2,), (2, 8, 7))),
    ),
    (
        # Theano's pull request 56, PyTensor's issue 1262. BLAS prints "had an illegal value".
        "a product in C with an array of numpy.broadcast_to, whose rows are one, is wrong",
        "give a copy of it: numpy.ascontiguousarray",
        (("theano", (0, 8), (1, 1, 2)), ("aesara", (2,), (2, 8, 7)), ("pytensor", (2,), (3, 3, 7))),
    ),
    (
        # PyTensor's issue 1444.
        "psi and tri_gamma in C are 0 for negative numbers",
        "write psi(1 - x) - pi / tan(pi * x) and (pi / sin(pi * x)) ** 2 - tri_gamma(1 - x)",
        (("theano", (0, 8), (1, 1, 2)), ("aesara", (2,), (2, 8, 7))),
    ),
    (
        "tri_gamma in C is 0 for negative numbers",
        "write (pi / sin(pi * x)) ** 2 - tri_gamma(1 - x)",
        (("pytensor", (2,), (3, 3, 7)),),
    ),
    (
        "set_subtensor(x[i], y)[i] is y, also where i has a number twice",
        "make i without repetitions first",
        (("theano", (0, 8), (1, 1, 2)), ("aesara", (2,), (2, 8, 7)), ("pytensor", (2,), (3, 3, 7))),
    ),
    (
        # Theano's issue 5919.
        "inc_subtensor(zeros[i], y)[i] is y, also where i has a number twice",
        "make i without repetitions first",
        (("theano", (0, 8), (0, 8, 2)),),
    ),
)
WRONG_RESULTS = tuple(
    WrongResult(module, first, last, fault, instead)
    for fault, instead, versions in FAULTS
    for module, first, last in versions
)


def check(context):
    """Check that no flag is set which breaks this framework; name its wrong results."""
    framework = context.framework
    wrong = wrong_results(framework.name, framework.version)
    named = "\n".join("%s: %s" % (row.fault, row.instead) for row in wrong)
    if framework.name not in AMDLIBM:
        return passed(NAME, named) if named else skipped(NAME, "none of this version")
    name, version = AMDLIBM[framework.name]
    flag = framework.spelled(framework.amdlibm_flag)
    fault = "%s cannot compile exp, log and sin with %s=True (seen in %s)" % (name, flag, version)
    if framework.flag(framework.amdlibm_flag):
        return failed(NAME, fault, undo_fix(context, framework.amdlibm_flag))
    return passed(NAME, "\n".join(["%s is off: %s" % (flag, fault)] + [named] * bool(named)))


def wrong_results(module, version):
    """Return the WrongResults of a framework's version."""
    number = pythons.number(version)
    return [
        row for row in WRONG_RESULTS if row.module == module and row.first <= number <= row.last
    ]
