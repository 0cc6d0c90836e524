"""Keep a function's outputs from sharing memory in less time, in Theano 0.8.2.

Theano asks, for each output and each input and constant of the graph, whether the output is a view
of it. An output is a view of one variable at most: the root of what it is made of in place.
"""

from theano.compile import function_module
from theano.compile.function_module import alias_root, deep_copy_op, view_op, view_tree_set


def insert_deepcopy(fgraph, wrapped_inputs, wrapped_outputs):
    """Replace function_module.insert_deepcopy: same arguments, same graph."""
    updated = {
        each for spec, each in zip(wrapped_inputs, fgraph.inputs) if getattr(spec, "update", False)
    }
    for place, spec in enumerate(wrapped_outputs):
        output = fgraph.outputs[place]
        root, views = alias_root(output), set()
        view_tree_set(root, views)
        later = zip(fgraph.outputs[place + 1 :], wrapped_outputs[place + 1 :])
        borrowed = [other.borrow for each, other in later if each in views]
        is_kept = root.owner is None and root not in updated and not _is_destroyed(fgraph, root)
        if is_kept and not borrowed:
            is_input = root in fgraph.inputs
            borrowed = [not is_input or wrapped_inputs[fgraph.inputs.index(root)].borrow]
        if borrowed:
            copied = view_op if spec.borrow and borrowed[0] else deep_copy_op
            fgraph.change_input("output", place, copied(output), reason="insert_deepcopy")


def _is_destroyed(fgraph, variable):
    return hasattr(fgraph, "get_destroyers_of") and fgraph.get_destroyers_of(variable)


function_module.insert_deepcopy = insert_deepcopy
