"""Every BLAS operation in both precisions: is it there, and is it C?"""

from __future__ import absolute_import, division, print_function

import collections

import numpy

from verify.blas import bindings
from verify.core import progress
from verify.core.fixes import compiler_fix, explain, ldflags_fix
from verify.core.report import failed, passed

DTYPES = ("float64", "float32")

# name: how it is reported; classes: the op classes that may do the work, C first.
Operation = collections.namedtuple("Operation", "name classes build")
# function: compiled, or None where `error` tells why it could not be; own: no compiled
# module calls a BLAS library; the framework's own stand-in hands the work to NumPy.
Compiled = collections.namedtuple("Compiled", "function error own")


def _gemm(fw, dtype):
    alpha, beta = _scalars(fw, dtype)
    a, b, c = _variables(fw, "matrix", dtype, "abc")
    return [alpha, a, b, beta, c], beta * c + alpha * fw.tensor.dot(a, b)


def _gemv(fw, dtype):
    alpha, beta = _scalars(fw, dtype)
    (a,) = _variables(fw, "matrix", dtype, "a")
    x, y = _variables(fw, "vector", dtype, "xy")
    return [alpha, a, x, beta, y], beta * y + alpha * fw.tensor.dot(a, x)


def _ger(fw, dtype):
    alpha, _ = _scalars(fw, dtype)
    (a,) = _variables(fw, "matrix", dtype, "a")
    x, y = _variables(fw, "vector", dtype, "xy")
    return [alpha, a, x, y], a + alpha * fw.tensor.outer(x, y)


def _dot22(fw, dtype):
    a, b = _variables(fw, "matrix", dtype, "ab")
    return [a, b], fw.tensor.dot(a, b)


def _dot22scalar(fw, dtype):
    alpha, _ = _scalars(fw, dtype)
    a, b = _variables(fw, "matrix", dtype, "ab")
    return [alpha, a, b], alpha * fw.tensor.dot(a, b)


def _batched_dot(fw, dtype):
    a, b = _variables(fw, "tensor3", dtype, "ab")
    return [a, b], fw.batched_dot(a, b)


OPERATIONS = (
    Operation("Gemm", ("Gemm",), _gemm),
    Operation("Gemv", ("CGemv", "Gemv", "ScipyGemv"), _gemv),
    Operation("Ger", ("CGer", "Ger", "ScipyGer"), _ger),
    Operation("Dot22", ("Dot22",), _dot22),
    Operation("Dot22Scalar", ("Dot22Scalar",), _dot22scalar),
    Operation("BatchedDot", ("BatchedDot",), _batched_dot),
)

UNCOMPILED = "does not compile: "
SHAPES = {"scalar": (), "vector": (3,), "matrix": (3, 3), "tensor3": (2, 3, 3)}


def _scalars(fw, dtype):
    return fw.variable("scalar", dtype, "alpha"), fw.variable("scalar", dtype, "beta")


def _variables(fw, kind, dtype, names):
    return [fw.variable(kind, dtype, name) for name in names]


def compiled(context, operation, dtype):
    """Return the Compiled of an operation; compiled once and called once."""
    key = operation.name, dtype
    if key not in context.operations:
        progress.note("compiling %s %s" % key)
        context.operations[key] = _compile(context, operation, dtype)
    return context.operations[key]


def _compile(context, operation, dtype):
    inputs, output = operation.build(context.framework, dtype)
    try:
        function = context.framework.function(inputs, output)
        function(*[numpy.ones((3,) * v.ndim, dtype) for v in inputs])
    except Exception as error:
        return Compiled(None, explain(error), False)
    modules = bindings.modules_below(context.framework.flag("compiledir"))
    return Compiled(function, None, all(served.own for served in bindings.servers_of(modules)))


def check(context, operation):
    """Check that an operation is done by C code that calls a BLAS library, in both precisions."""
    name = "%s in C" % operation.name
    slow, said = [], []
    for dtype in DTYPES:
        fast, detail = _one(context, operation, dtype)
        said.append(detail)
        if not fast:
            slow.append(dtype)
    detail = in_words(said)
    if context.is_baseline:
        if len(slow) == len(DTYPES):
            return passed(name, "slow path, as the baseline has it: " + detail)
        return failed(
            name,
            "this is not the baseline: " + detail,
            "take blas.ldflags out of %s and of %s, or pick the variant that is meant"
            % (context.framework.flags_variable, context.framework.rc_file),
        )
    if not slow:
        return passed(name, detail)
    fix = ldflags_fix(context) if context.framework.flag("cxx") else compiler_fix(context)
    return failed(name, detail, fix)


def in_words(said):
    """Return what was said of each precision as one text; one and the same error is told once."""
    if len(set(said)) == 1 and said[0].startswith(UNCOMPILED):
        return "%s: %s" % (" and ".join(DTYPES), said[0])
    return "; ".join("%s %s" % each for each in zip(DTYPES, said))


def _one(context, operation, dtype):
    done = compiled(context, operation, dtype)
    if done.error:
        return False, UNCOMPILED + done.error
    found = context.framework.implementations(done.function)
    for node, implementation in found:
        kind = type(node.op).__name__
        if kind in operation.classes:
            if implementation != "C":
                return False, "%s is %s" % (kind, implementation or "never run")
            if done.own:
                return False, "%s is C, but it calls NumPy, not a BLAS library" % kind
            return True, kind
    kinds = ", ".join(type(node.op).__name__ for node, _ in found)
    return False, "is not in the compiled graph; there is: %s" % kinds
