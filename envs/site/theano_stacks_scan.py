"""Makes the gradients of scans smaller, and in Theano 0.8.2 the same in every process.

    import theano_stacks_scan  # before the first theano.grad, or pytensor.grad

Scan's gradient looks, for each of scan's inputs, for what the forward scan has computed already,
and puts the stored value in its place. Where it finds something, Theano copies the whole inner
graph for that input, and leaves it to the optimiser to merge the copies. So does PyTensor, whose
rewrites of scans then copy all of the copies, many times. With this module what was copied for one
input serves the next.

Theano 0.8.2 keeps the gradients that it adds up in a dict by variable, and Python 2.7 orders that
by address: the graph depends on what else has been allocated. Later versions keep them in order,
and so does this module.
"""

import importlib
import sys

try:
    from theano.scan_module import scan_op, scan_opt
    from theano.scan_module.scan_utils import equal_computations
except ImportError:
    # An environment has one of the two.
    scan_op, scan_opt = importlib.import_module("pytensor.scan.op"), None
    equal_computations = importlib.import_module("pytensor.graph.basic").equal_computations


class _Replacing(object):
    """The framework's forced_replace, with a memory that lasts for one gradient."""

    def __init__(self):
        self.known = {}
        self.complete = False

    def replace(self, out, x, y):
        """Return `out` with `y` wherever its graph computes `x`."""
        if out is None:
            return None
        if (x, y) in self.known:
            self.complete = True
        elif self.complete:
            # A pair that is new, after others came again: the next gradient has begun.
            self.known, self.complete = {}, False
        return _rebuilt(out, x, y, *self.known.setdefault((x, y), ({}, {})))


def _rebuilt(out, x, y, replaced, nodes):
    waiting = [out]
    while waiting:
        variable = waiting[-1]
        node = variable.owner
        if variable in replaced:
            waiting.pop()
        elif equal_computations([variable], [x]):
            replaced[variable] = y
        elif node is None:
            replaced[variable] = variable
        elif node in nodes:
            replaced[variable] = nodes[node].outputs[node.outputs.index(variable)]
        else:
            missing = [each for each in node.inputs if each not in replaced]
            waiting += missing
            if not missing:
                nodes[node] = _with_inputs(node, [replaced[each] for each in node.inputs])
    return replaced[out]


def _with_inputs(node, inputs):
    if all(new is old for new, old in zip(inputs, node.inputs)):
        return node
    return node.clone_with_new_inputs(inputs)


def _push_out_inner_vars(original):
    """Return PushOutScanOutput's method without its fault.

    It may return outputs of the scan that it has just replaced: then the optimisation is given up.
    """

    def push_out_inner_vars(self, fgraph, inner_vars, old_node, old_args):
        before = list(old_args.outer_out_nit_sot)
        found, node, args = original(self, fgraph, inner_vars, old_node, old_args)
        if node is not old_node:
            after = args.outer_out_nit_sot
            found = [after[before.index(each)] if each in before else each for each in found]
        return found, node, args

    return push_out_inner_vars


def _ordered(*pairs, **named):
    """Stand for `dict` in Theano 0.8.2's module: gradients in the order in which they were made."""
    # The one call with pairs is that of the gradients; their automatic names count up.
    if not pairs:
        return dict(**named)
    from theano.compat import OrderedDict

    return OrderedDict(sorted(pairs[0], key=lambda pair: int(pair[1].auto_name[len("auto_") :])))


def _fix():
    scan_op.forced_replace = _Replacing().replace
    if scan_opt is None:
        return
    kind = scan_opt.PushOutScanOutput
    kind.push_out_inner_vars = _push_out_inner_vars(kind.push_out_inner_vars)
    if sys.version_info[0] == 2:
        scan_op.dict = _ordered


_fix()
