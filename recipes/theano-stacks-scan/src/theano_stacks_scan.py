"""Make the gradients of scans smaller, and in Theano 0.8.2 the same in every process.

    import theano_stacks_scan  # before the first theano.grad, or pytensor.grad

For each input of a scan, its gradient replaces what the forward scan has computed already by the
stored value. For each such input Theano copies the whole inner graph, and leaves it to the
optimiser to merge the copies. So does PyTensor, whose rewrites of scans then copy every copy many
times. With this module all inputs share one copy.

Theano 0.8.2 collects the gradients to be summed in a dict by variable, which Python 2.7 orders by
address: the graph depends on what else is in memory. Later versions keep them in order, and so does
this module.
"""

import importlib
import sys

try:
    from theano.scan_module import scan_op, scan_opt
    from theano.scan_module.scan_utils import equal_computations
except ImportError:
    # An environment has either Theano or PyTensor.
    scan_op, scan_opt = importlib.import_module("pytensor.scan.op"), None
    equal_computations = importlib.import_module("pytensor.graph.basic").equal_computations


class _Replacing(object):
    """The framework's forced_replace, which shares copies within one gradient."""

    def __init__(self):
        self.known = {}
        self.complete = False

    def replace(self, out, x, y):
        """Return `out` with `y` in place of each `x` in its graph."""
        if out is None:
            return None
        if (x, y) in self.known:
            self.complete = True
        elif self.complete:
            # A new pair after a repeated one: the next gradient has begun.
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
    """Return PushOutScanOutput's method with its bug fixed.

    It may return outputs of the scan that it has just replaced, and the optimisation is dropped.
    """

    def push_out_inner_vars(self, fgraph, inner_vars, old_node, old_args):
        before = list(old_args.outer_out_nit_sot)
        outer_vars, node, args = original(self, fgraph, inner_vars, old_node, old_args)
        if node is not old_node:
            after = args.outer_out_nit_sot
            outer_vars = [
                after[before.index(each)] if each in before else each for each in outer_vars
            ]
        return outer_vars, node, args

    return push_out_inner_vars


def _ordered(*pairs, **named):
    """Replace `dict` in Theano 0.8.2's module: keep gradients in the order of their creation."""
    # Only the gradients come as pairs, and their automatic names count up.
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
