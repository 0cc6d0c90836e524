"""Whether compiled code leaves the vector registers so that what comes after it runs at full speed.

Code for AVX that returns with numbers in the upper halves of these registers makes every later SSE
instruction keep them, and wait for what wrote them: on AMD's Zen 5 MKL's small matrix products then
take twice their time. A compiler ends such code with VZEROUPPER; it does not under some options,
and GCC 10 forgets it where a function has a target of its own and -fipa-ra is on, as it is at -O2.
"""

from __future__ import absolute_import, division, print_function

import re

import numpy

from verify import blas_ops, elementwise, native, progress
from verify.report import failed, passed, skipped

NAME = "vector registers"
SOURCE = "registers.c"
# A whole number of vectors of any instruction set, so that no loop over the rest comes after.
SIZE = 16
UNTOLD = "this processor does not tell whether their upper halves are in use"


def check(context):
    """Check that elementwise and BLAS operations leave the upper halves as they found them."""
    progress.note("looking at the vector registers")
    try:
        probe = native.load(context.framework.flag("cxx"), SOURCE, context.folder)
    except native.NoCompilerError as error:
        return skipped(NAME, str(error))
    if probe.upper_halves_in_use() < 0:
        return skipped(NAME, UNTOLD)
    left, ran = [], 0
    for name, call in _calls(context):
        call()
        probe.free_upper_halves()
        if probe.upper_halves_in_use():
            return skipped(NAME, UNTOLD)
        call()
        if probe.upper_halves_in_use():
            left.append(name)
        ran += 1
    if not left:
        return passed(NAME, "free again after each of %d operations" % ran)
    return failed(
        NAME,
        "still in use after %s: SSE instructions that come then, of other libraries too, are "
        "slower" % ", ".join(left),
        _mend(context),
    )


def _calls(context):
    """Yield (name, function without arguments) of each operation that could be compiled."""
    for name in elementwise.FUNCTIONS:
        function = elementwise.compiled(context.framework, name, "float32")
        yield name, _bound(function, [numpy.ones((SIZE, SIZE), "float32")])
    for operation in blas_ops.OPERATIONS:
        for dtype in blas_ops.DTYPES:
            function = blas_ops.compiled(context, operation, dtype).function
            if function is not None:
                inputs, _ = operation.build(context.framework, dtype)
                values = [numpy.ones((SIZE,) * variable.ndim, dtype) for variable in inputs]
                yield "%s %s" % (operation.name, dtype), _bound(function, values)


def _bound(function, values):
    return lambda: function(*values)


def _mend(context):
    flags = str(context.framework.flag("gcc.cxxflags") or "")
    asked = re.findall(r"-mno-vzeroupper|-fno-expensive-optimizations|-O[01s]\b", flags)
    if asked:
        return "take %s out of gcc.cxxflags, which are %r" % (" and ".join(asked), flags)
    return "add -fno-ipa-ra to gcc.cxxflags"
