"""Theano's graphs as plain data: to hash them, and to store and restore them."""

import types

import numpy
from theano.compile.profiling import ProfileStats
from theano.gof import graph, op, opt
from theano.misc.ordered_set import OrderedSet
from theano.scalar.basic import Composite
from theano.scan_module.scan_op import Scan

import theano_stacks_code as code
from theano_stacks_code import PLAIN, UnknownError

try:
    from theano.misc.frozendict import frozendict
except ImportError:
    frozendict = dict

MAPPINGS = (dict, frozendict)
# Attributes of Theano's own ops and optimisers that are compiled, counted or derived from the rest.
OWN = frozenset(
    ("fn", "profile", "ufunc", "nfunc", "fgraph", "_impls", "_c_code", "nodenames", "name")
    + ("_cmodule_key", "_hash_inner_graph", "_hashval", "_optimizer_idx", "__epydoc_asRoutine")
    + ("mode_instance", "prepare_node_called", "mitmots_preallocated")
)
# Those that Theano gives to the ops of a program, too.
GIVEN = frozenset(("_cmodule_key", "_hashval", "_optimizer_idx", "prepare_node_called"))
NAMED = (types.BuiltinFunctionType, numpy.ufunc, type(str.join))
# Ops with an inner graph, which they hold as inputs and outputs.
WITH_GRAPH = (Scan, Composite)


class Description(code.CodeDescription):
    """A hash of values, the same in every process; `modules` are those that they come from."""

    def __init__(self):
        super(Description, self).__init__()
        self.within = []
        self.types = {}

    def value(self, value):
        """Add any value; raises UnknownError where its content cannot be hashed."""
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
            self.of_class(value)
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, NAMED):
            self.by_name(value)
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

    def _object(self, value):
        if id(value) in self.within:
            self.add("again", self.within.index(id(value)))
            return
        if not hasattr(value, "__dict__") or isinstance(value, types.ModuleType):
            raise UnknownError("a %s" % type(value))
        self.within.append(id(value))
        self.value(type(value))
        state = {name: each for name, each in value.__dict__.items() if name != "__doc__"}
        if isinstance(value, (op.PureOp, opt.Optimizer)):
            left_out = GIVEN if code.is_of_program(type(value).__module__) else OWN
            state = {name: each for name, each in state.items() if name not in left_out}
        if isinstance(value, WITH_GRAPH):
            inputs, outputs = state.pop("inputs"), state.pop("outputs")
            state.pop("inputs_type", None)
            state.pop("outputs_type", None)
            self.graph(inputs, outputs)
        if isinstance(value, Scan):
            state["info"] = {k: v for k, v in value.info.items() if k != "profile"}
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
                # The optimiser computes it, and the result may be another one in the next start.
                raise UnknownError("a constant that %s computes" % node.op)
            self.add("node", number, [self._place(each, places) for each in node.inputs])
            for each in node.outputs:
                places[each] = len(places)
                self.type(each.type)
        self.add("outputs", [self._place(each, places) for each in outputs])

    def _op(self, value):
        """Add an op; return whether it is a program's, or reads files."""
        before, self.of_program = self.of_program, False
        self.value(value)
        is_outside = self.of_program or type(value).__module__ == "theano.tensor.io"
        self.of_program = before or is_outside
        return is_outside

    def _place(self, variable, places):
        if variable not in places:
            if not isinstance(variable, graph.Constant):
                raise UnknownError("an input that is not listed: %s" % variable)
            self.constant(variable)
            places[variable] = len(places)
        return places[variable]


class _Types(object):
    """The types in a graph, numbered.

    Some types equal only themselves, so those of the inputs are not stored but taken from the
    inputs of the graph that is restored.
    """

    def __init__(self, inputs):
        self.places, self.others = {}, []
        for place, each in enumerate(inputs):
            self.places.setdefault(each.type, place)
        self.count = len(inputs)

    def place_of(self, of_type):
        if of_type not in self.places:
            self.places[of_type] = self.count + len(self.others)
            self.others.append(of_type)
        return self.places[of_type]


def packed(inputs, outputs):
    """Return a graph as flat lists, which pickle can write however deep the graph is.

    Inputs stand as their numbers. Raises UnknownError for an input that is not listed.
    """
    places = {each: place for place, each in enumerate(inputs)}
    ops, known, nodes, types_of = [], {}, [], _Types(inputs)

    def place_of(variable):
        if variable not in places:
            if not isinstance(variable, graph.Constant):
                raise UnknownError("an input that is not listed: %s" % variable)
            places[variable] = len(places)
            of_type = types_of.place_of(variable.type)
            nodes.append((type(variable), of_type, variable.data, variable.name))
        return places[variable]

    for node in graph.io_toposort(inputs, outputs):
        if id(node.op) not in known:
            known[id(node.op)] = len(ops)
            ops.append(_packed_op(node.op))
        taken = [place_of(each) for each in node.inputs]
        results = [(types_of.place_of(each.type), each.name) for each in node.outputs]
        for each in node.outputs:
            places[each] = len(places)
        nodes.append((known[id(node.op)], taken, results))
    return ops, types_of.others, nodes, [place_of(each) for each in outputs]


def unpacked(inputs, content):
    """Return the outputs of a packed graph, computed from these inputs."""
    ops, others, nodes, outputs = content
    ops = [_unpacked_op(*each) for each in ops]
    all_types = [each.type for each in inputs] + others
    variables = list(inputs)
    for node in nodes:
        if len(node) == 4:
            kind, of_type, data, name = node
            variables.append(kind(all_types[of_type], data, name))
        else:
            place, taken, results = node
            fresh = [all_types[of_type].make_variable(name) for of_type, name in results]
            graph.Apply(ops[place], [variables[each] for each in taken], fresh)
            variables += fresh
    return [variables[place] for place in outputs]


def _packed_op(value):
    if not isinstance(value, Scan):
        return value, None, None
    left_out = ("fn", "profile", "_cmodule_key")
    state = {name: each for name, each in value.__dict__.items() if name not in left_out}
    profile = value.profile
    # Statistics belong to their process; the next one begins its own.
    state["profile"] = True if isinstance(profile, ProfileStats) else profile
    state["info"] = type(value.info)(value.info, profile=state["profile"])
    inputs, outputs = state.pop("inputs"), state.pop("outputs")
    types_and_names = [(each.type, each.name) for each in inputs]
    return type(value), state, (types_and_names, packed(inputs, outputs))


def _unpacked_op(value, state, inner):
    if state is None:
        return value
    restored = value.__new__(value)
    restored.__dict__.update(state)
    types_and_names, content = inner
    restored.inputs = [of_type.make_variable(name) for of_type, name in types_and_names]
    restored.outputs = unpacked(restored.inputs, content)
    return restored
