"""Read the frameworks' ProfileStats objects into plain data."""

from __future__ import absolute_import, division, print_function

import collections
import contextlib
import io

# Relative: theano_stacks_program.py imports this module by another name of the package.
from . import graph

# Lengths of the names of ops and scans, in characters.
LONGEST, LONGEST_SCAN = 240, 200


@contextlib.contextmanager
def switched_off(function):
    """Run the body without the profiles of a function and its scans, which take time."""
    states = []
    for each in graph.functions_in(function):
        machine = graph.machine_of(each)
        timed = getattr(machine, "time_thunks", None)
        states.append((each, each.profile, each.maker.profile, machine, timed))
        each.profile = each.maker.profile = None
        if timed is not None:
            machine.time_thunks = False
    try:
        yield
    finally:
        for each, profile, maker_profile, machine, timed in states:
            each.profile, each.maker.profile = profile, maker_profile
            if timed is not None:
                machine.time_thunks = timed


def forget_calls(function):
    """Reset the profiles of the calls of a function and its scans, not that of the compilation."""
    for each in graph.functions_in(function):
        if each.profile:
            forget(each.profile)


def forget(profile):
    """Reset what a ProfileStats has of the calls of its function."""
    profile.fct_callcount, profile.fct_call_time, profile.vm_call_time = 0, 0.0, 0.0
    for table in (profile.apply_time, profile.apply_callcount):
        table.clear()
    if hasattr(profile, "nbsteps"):
        profile.callcount, profile.nbsteps, profile.call_time = 0, 0, 0.0


def compile_times_of(profile):
    """Return the seconds of a compilation by stage from its ProfileStats."""
    optimiser = getattr(profile, "optimizer_time", None)
    if optimiser is None:
        optimiser = profile.rewriting_time
    return {
        "total": profile.compile_time,
        "optimiser": optimiser,
        "validation": profile.validate_time,
        "linker": profile.linker_time,
        "import": profile.import_time,
    }


def of_function(function):
    """Return the profile of a function's calls: totals, three tables, and its scans' profiles."""
    content = _content(function.profile, function.maker.fgraph)
    return dict(content, tips=printed(function.profile, "print_tips"))


def printed(profile, method, *options):
    """Return what a method of a ProfileStats prints, empty if it has none."""
    file = io.StringIO() if str is not bytes else io.BytesIO()
    if hasattr(profile, method):
        getattr(profile, method)(file, *options)
    return file.getvalue()


def of_profile(profile):
    """Return the profile of a function that may be gone, as of_function does; None if not called.

    profile: a ProfileStats; the nodes in its tables hold the function's graph.
    """
    fgraph = next(iter(profile.apply_time), None)
    if fgraph is None:
        return None
    fgraph = fgraph[0] if isinstance(fgraph, tuple) else fgraph.fgraph
    return dict(_content(profile, fgraph), graph=graph.of_graph(fgraph))


def _content(profile, fgraph):
    """Return the totals, the tables and the scans of a ProfileStats of a function."""
    totals = {
        "calls": profile.fct_callcount,
        "seconds": profile.fct_call_time,
        "vm_seconds": profile.vm_call_time,
        "nodes": profile.nb_nodes,
        "scans": scans_of(fgraph),
    }
    return dict(_tables(profile, fgraph), **totals)


def scans_of(fgraph):
    """Return the profiles of the scans of a graph, the slowest first."""
    scans = []
    for node in fgraph.toposort():
        inner = graph.inner_function(node)
        if inner is None or not inner.profile:
            continue
        profile = inner.profile
        content = {
            "name": graph.op_name(node.op)[:LONGEST_SCAN],
            "signature": graph.describe(inner)["signature"],
            "calls": profile.callcount,
            "steps": profile.nbsteps,
            "seconds": profile.call_time,
            "vm_seconds": profile.vm_call_time,
        }
        inner_graph = inner.maker.fgraph
        content.update(_tables(profile, inner_graph))
        content["scans"] = scans_of(inner_graph)
        scans.append(content)
    return sorted(scans, key=lambda scan: -scan["seconds"])


def _tables(profile, fgraph):
    rows = _rows(profile, fgraph)
    return {
        "thunk_seconds": sum(row["seconds"] for row in rows),
        "classes": _summed(rows, "class"),
        "ops": _summed(rows, "op"),
        "applies": [
            {key: row[key] for key in ("apply", "id", "seconds", "calls", "type")} for row in rows
        ],
    }


def _rows(profile, fgraph):
    order = {node: index for index, node in enumerate(fgraph.toposort())}
    rows = []
    for key, seconds in profile.apply_time.items():
        # PyTensor's keys are (graph, node).
        node = key[1] if isinstance(key, tuple) else key
        kind, name = type(node.op), graph.op_name(node.op)
        inputs = ", ".join(graph.ADDRESS.sub("", str(variable)) for variable in node.inputs)
        rows.append(
            {
                "class": "%s.%s" % (kind.__module__, kind.__name__),
                "op": name[:LONGEST],
                "apply": ("%s(%s)" % (name, inputs))[:LONGEST],
                "id": order.get(node, -1),
                "seconds": seconds,
                "calls": profile.apply_callcount[key],
                "type": "C" if profile.apply_cimpl.get(node) else "Py",
            }
        )
    return sorted(rows, key=lambda row: (-row["seconds"], row["id"]))


def _summed(rows, key):
    """Return the rows summed by class or op; `C & Py` where their nodes differ."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    table = [
        {
            key: name,
            "seconds": sum(row["seconds"] for row in group),
            "calls": sum(row["calls"] for row in group),
            "applies": len(group),
            "type": " & ".join(sorted({row["type"] for row in group})),
        }
        for name, group in groups.items()
    ]
    return sorted(table, key=lambda row: (-row["seconds"], row[key]))
