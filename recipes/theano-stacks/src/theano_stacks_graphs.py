"""Hash Theano's graphs, and the values in them, the same in every process.

Only graphs of Theano's own operations and plain values have a hash (theano_stacks_code).
"""

import hashlib
import types

import numpy
from theano.compile.profiling import ProfileStats
from theano.gof import graph, op, opt
from theano.misc.ordered_set import OrderedSet
from theano.scalar.basic import Composite
from theano.scan_module.scan_op import Scan

from theano_stacks_code import (
    EXACT,
    PLAIN,
    UnknownError,
    has_own_state,
    is_function_of_program,
    is_of_program,
    name_of,
)

try:
    from theano.misc.frozendict import frozendict
except ImportError:
    frozendict = dict

MAPPINGS = (dict, frozendict)
# Attributes of Theano's own ops and optimisers that are compiled, counted or derived from the rest.
OWN = frozenset(
    ("fn", "profile", "ufunc", "nfunc", "fgraph", "_impls", "_c_code", "nodenames", "name")
    + ("_cmodule_key", "_hash_inner_graph", "_hashval", "__epydoc_asRoutine")
    + ("mode_instance", "prepare_node_called", "mitmots_preallocated")
)
# Of any object: text, and a number that Theano gives an optimisation when it is first used.
MARKS = ("__doc__", "_optimizer_idx")
# The most bytes of constants in a graph that is stored: pickle needs four times as much memory.
MOST = 10 * 10**6
NAMED = (types.BuiltinFunctionType, numpy.ufunc, type(str.join))
# Ops with an inner graph, which they hold as inputs and outputs.
WITH_GRAPH = (Scan, Composite)


class Sizes(object):
    """The bytes of a graph's constants."""

    def __init__(self):
        self.left = MOST

    def add(self, constant):
        """Count a constant; raises UnknownError if all together are too large."""
        self.left -= getattr(constant.data, "nbytes", 0)
        if self.left < 0:
            raise UnknownError("more than %d bytes of constants" % MOST)


class Description(object):
    """A hash of values, the same in every process."""

    def __init__(self):
        self.hash = hashlib.sha256()
        self.known = {}
        self.within = []
        self.types = {}
        self.sizes = Sizes()

    def add(self, *words):
        """Add numbers and text."""
        self.hash.update((repr(words) + "\n").encode("utf-8"))

    def value(self, value):
        """Add any value; raises UnknownError where its content cannot be hashed."""
        if _is_exact(value):
            self.add(type(value).__name__, value)
            return
        if is_of_program(type(value).__module__):
            raise UnknownError("%s is a program's" % type(value))
        if isinstance(value, PLAIN):
            self.add(type(value).__name__, value)
        elif isinstance(value, (numpy.ndarray, numpy.generic)):
            self._array(numpy.asarray(value))
        elif isinstance(value, numpy.dtype):
            self.add("dtype", value.str)
        elif isinstance(value, (list, tuple, OrderedSet)):
            self.add(type(value).__name__, len(value))
            for each in value:
                self.value(each)
        elif isinstance(value, MAPPINGS):
            self.unordered([list(pair) for pair in value.items()])
        elif isinstance(value, (set, frozenset)):
            self.unordered(list(value))
        elif isinstance(value, type):
            self.add("named", *name_of(value))
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, NAMED):
            if not isinstance(getattr(value, "__self__", None), (type(None), types.ModuleType)):
                raise UnknownError("a method of a %s" % type(value.__self__))
            self.add("named", *name_of(value))
        elif isinstance(value, types.MethodType):
            self.value(value.__func__)
            self.value(value.__self__)
        elif isinstance(value, graph.Constant):
            self.constant(value)
        elif isinstance(value, (graph.Variable, graph.Apply)):
            raise UnknownError("a variable outside of its graph")
        else:
            self._object(value)

    def _array(self, array):
        if array.dtype.hasobject:
            raise UnknownError("an array of objects")
        self.add("array", array.dtype.str, array.shape, array.strides)
        self.hash.update(numpy.ascontiguousarray(array).tobytes())

    def function(self, function):
        """Add a function of Theano's; what it takes from around it belongs to it."""
        if id(function) in self.known:
            self.add("known", self.known[id(function)])
            return
        self.known[id(function)] = len(self.known)
        if is_function_of_program(function):
            raise UnknownError("%s is a program's" % function)
        self.add("named", *name_of(function))
        self.add("code", function.__code__.co_code)
        for cell in function.__closure__ or ():
            # ValueError where a variable has no value yet.
            self.value(cell.cell_contents)

    def unordered(self, items):
        """Add values whose order does not count."""
        words = []
        for item in items:
            if _is_exact(item):
                # Most are, and a hash of their own takes longer.
                words.append(repr(item))
                continue
            part = self.part()
            part.known = dict(self.known)
            part.value(item)
            words.append(part.hash.hexdigest())
        self.add("unordered", sorted(words))

    def _object(self, value):
        if id(value) in self.within:
            self.add("again", self.within.index(id(value)))
            return
        if not hasattr(value, "__dict__") or not has_own_state(value):
            raise UnknownError("a %s" % type(value))
        self.within.append(id(value))
        self.value(type(value))
        state = {name: each for name, each in value.__dict__.items() if name not in MARKS}
        if isinstance(value, (op.PureOp, opt.Optimizer)):
            state = {name: each for name, each in state.items() if name not in OWN}
        if isinstance(value, WITH_GRAPH):
            inputs, outputs = state.pop("inputs"), state.pop("outputs")
            state.pop("inputs_type", None)
            state.pop("outputs_type", None)
            self.graph(inputs, outputs)
        if isinstance(value, Scan):
            state["info"] = {k: v for k, v in value.info.items() if k != "profile"}
            state["profile"] = profile_of(value)
        self.unordered([list(pair) for pair in state.items()])
        self.within.pop()

    def part(self):
        """Return a description of a part, which knows what it lies within."""
        part = Description()
        part.within = self.within
        return part

    def type(self, of_type):
        """Add the type of a variable, by its number where it was added before."""
        if of_type in self.types:
            self.add("type", self.types[of_type])
        else:
            self.types[of_type] = len(self.types)
            self.value(of_type)

    def constant(self, constant):
        """Add a constant's type and data."""
        self.sizes.add(constant)
        self.type(constant.type)
        self.value(constant.data)

    def graph(self, inputs, outputs):
        """Add what is computed from inputs to outputs, without names and traces."""
        places, ops, varying = {}, {}, set(inputs)
        for place, each in enumerate(inputs):
            places[each] = place
            self.value(type(each))
            self.type(each.type)
        for node in graph.io_toposort(inputs, outputs):
            if id(node.op) not in ops:
                ops[id(node.op)] = len(ops), self._op(node.op)
            number, is_outside = ops[id(node.op)]
            if not varying.isdisjoint(node.inputs):
                varying.update(node.outputs)
            elif is_outside:
                # The optimiser reads it from a file, which may have changed by the next start.
                raise UnknownError("a constant that %s computes" % node.op)
            self.add("node", number, [self._place(each, places) for each in node.inputs])
            for each in node.outputs:
                places[each] = len(places)
                self.type(each.type)
        self.add("outputs", [self._place(each, places) for each in outputs])

    def _op(self, value):
        """Add an op; return whether it reads files."""
        self.value(value)
        return type(value).__module__ == "theano.tensor.io"

    def _place(self, variable, places):
        if variable not in places:
            if not isinstance(variable, graph.Constant):
                raise UnknownError("an input that is not listed: %s" % variable)
            self.constant(variable)
            places[variable] = len(places)
        return places[variable]


def _is_exact(value):
    """Return whether repr says all of a value, the same in every process."""
    kind = type(value)
    return kind in EXACT or (kind in (tuple, list) and all(map(_is_exact, value)))


def profile_of(scan):
    """Return a scan's setting: statistics belong to their process, the next one begins its own."""
    return True if isinstance(scan.profile, ProfileStats) else scan.profile
