"""Keep a scan that was replaced from coming back into the graph, in Theano 0.8.2.

ShapeFeature knows the shape of a variable as a graph, which need not be part of the function's.
When an optimisation replaces a scan, such graphs still name the old scan. One that asks for a shape
afterwards (local_shape_to_shape_i, local_elemwise_alloc) puts the old scan into the function again,
where all of it is computed for a number that the new scan gives too. Whether that happens depends
on the order of Scan.grad's dict, which Python 2.7 orders by address.

Here, an output of a replaced scan in what an optimisation adds becomes that of the scan which
stands in its place.
"""

from theano.compile.function_module import FunctionMaker
from theano.gof.toolbox import ReplaceValidate
from theano.scan_module.scan_op import Scan

# Number of replacements that would have brought a scan back.
found = {"replaced": 0}


def with_current(fgraph, successors, pairs):
    """Return replacements without outputs of replaced scans in what they add.

    successors: {replaced output of a scan: what replaced it}; pairs: [(variable, replacement)]. All
    pairs together, so that the outputs of one new node stay those of one node. Pairs that name no
    replaced scan are returned as they are, as are those that would make the graph a cycle.
    """
    current, nodes = _outdated(fgraph, successors, [new for _, new in pairs])
    if not current or _depends_on(current.values(), {old for old, _ in pairs}):
        return pairs
    for node in nodes:
        if any(each in current for each in node.inputs):
            fresh = node.clone_with_new_inputs([current.get(each, each) for each in node.inputs])
            for old, new in zip(node.outputs, fresh.outputs):
                current.setdefault(old, new)
    return [(old, current.get(new, new)) for old, new in pairs]


def _outdated(fgraph, successors, variables):
    """Return ({outdated variable: the present one}, nodes outside of the graph in their order)."""
    current, nodes, seen, done = {}, [], set(), set()
    waiting = [(each, False) for each in reversed(variables)]
    while waiting:
        variable, complete = waiting.pop()
        if complete:
            if variable.owner not in done:
                done.add(variable.owner)
                nodes.append(variable.owner)
            continue
        if variable in seen or variable in fgraph.variables or variable.owner is None:
            continue
        seen.add(variable)
        present = _present(fgraph, successors, variable)
        if present is not variable:
            current[variable] = present
            continue
        waiting.append((variable, True))
        waiting += [(each, False) for each in variable.owner.inputs]
    return current, nodes


def _present(fgraph, successors, variable):
    """Return what stands for a variable in the graph now, itself where that is not known."""
    seen, present = set(), variable
    while present not in fgraph.variables:
        if present in seen or present not in successors:
            return variable
        seen.add(present)
        present = successors[present]
    return present


def _depends_on(variables, ancestors):
    seen, waiting = set(), list(variables)
    while waiting:
        variable = waiting.pop()
        if variable in ancestors:
            return True
        if variable not in seen:
            seen.add(variable)
            waiting += variable.owner.inputs if variable.owner else []
    return False


def _wrapped(original):
    def replace_all_validate(self, fgraph, replacements, *positional, **named):
        pairs = list(replacements)
        successors = self.__dict__.setdefault("scan_successors", {})
        if successors:
            current = with_current(fgraph, successors, pairs)
            found["replaced"] += current is not pairs
            pairs = current
        checkpoint = original(self, fgraph, pairs, *positional, **named)
        for old, new in pairs:
            if old.owner is not None and isinstance(old.owner.op, Scan) and new is not old:
                successors[old] = new
        return checkpoint

    return replace_all_validate


def _forgetting(make):
    def __init__(self, *positional, **named):
        make(self, *positional, **named)
        for feature in self.fgraph._features:
            # The function has no use for it, and would keep the old scans in memory.
            getattr(feature, "__dict__", {}).pop("scan_successors", None)

    return __init__


def _fix():
    ReplaceValidate.replace_all_validate = _wrapped(ReplaceValidate.replace_all_validate)
    FunctionMaker.__init__ = _forgetting(FunctionMaker.__init__)


_fix()
