"""Theano's graphs as flat lists: to store and restore them."""

from theano.gof import graph
from theano.scan_module.scan_op import Scan

from theano_stacks_code import UnknownError
from theano_stacks_graphs import Sizes, profile_of

try:
    import cPickle as pickle  # noqa: N813 - it is Python 3's pickle
except ImportError:
    import pickle  # noqa: F401


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
    """Return (a graph as flat lists, which pickle can write however deep it is; its nodes).

    Inputs stand as their numbers. Raises UnknownError for an input that is not listed, and for
    constants that are too large.
    """
    places = {each: place for place, each in enumerate(inputs)}
    order = graph.io_toposort(inputs, outputs)
    ops, known, nodes, types_of, sizes = [], {}, [], _Types(inputs), Sizes()

    def place_of(variable):
        if variable not in places:
            if not isinstance(variable, graph.Constant):
                raise UnknownError("an input that is not listed: %s" % variable)
            places[variable] = len(places)
            of_type = types_of.place_of(variable.type)
            sizes.add(variable)
            nodes.append((type(variable), of_type, variable.data, variable.name))
        return places[variable]

    for node in order:
        if id(node.op) not in known:
            known[id(node.op)] = len(ops)
            ops.append(_packed_op(node.op))
        taken = [place_of(each) for each in node.inputs]
        results = [(types_of.place_of(each.type), each.name) for each in node.outputs]
        for each in node.outputs:
            places[each] = len(places)
        nodes.append((known[id(node.op)], taken, results))
    return (ops, types_of.others, nodes, [place_of(each) for each in outputs]), order


def unpacked(inputs, content):
    """Return (the outputs of a packed graph, computed from these inputs; its nodes)."""
    ops, others, nodes, outputs = content
    ops = [_unpacked_op(*each) for each in ops]
    all_types = [each.type for each in inputs] + others
    variables, order = list(inputs), []
    for node in nodes:
        if len(node) == 4:
            kind, of_type, data, name = node
            variables.append(kind(all_types[of_type], data, name))
        else:
            place, taken, results = node
            fresh = [all_types[of_type].make_variable(name) for of_type, name in results]
            order.append(graph.Apply(ops[place], [variables[each] for each in taken], fresh))
            variables += fresh
    return [variables[place] for place in outputs], order


def _packed_op(value):
    if not isinstance(value, Scan):
        return value, None, None
    left_out = ("fn", "profile", "_cmodule_key")
    state = {name: each for name, each in value.__dict__.items() if name not in left_out}
    state["profile"] = profile_of(value)
    state["info"] = type(value.info)(value.info, profile=state["profile"])
    inputs, outputs = state.pop("inputs"), state.pop("outputs")
    types_and_names = [(each.type, each.name) for each in inputs]
    return type(value), state, (types_and_names, packed(inputs, outputs)[0])


def _unpacked_op(value, state, inner):
    if state is None:
        return value
    restored = value.__new__(value)
    restored.__dict__.update(state)
    types_and_names, content = inner
    restored.inputs = [of_type.make_variable(name) for of_type, name in types_and_names]
    restored.outputs, _ = unpacked(restored.inputs, content)
    return restored
