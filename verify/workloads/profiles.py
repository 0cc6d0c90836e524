"""Profiles as data, read from the frameworks' own ProfileStats objects."""

from __future__ import absolute_import, division, print_function

import collections
import contextlib

from verify.workloads import graph

LONGEST, LONGEST_SCAN = 240, 200


@contextlib.contextmanager
def switched_off(function):
    """Run the body with no profile kept of a function and its scans: counting takes time too."""
    kept = []
    for each in graph.functions_in(function):
        machine = graph.machine_of(each)
        timed = getattr(machine, "time_thunks", None)
        kept.append((each, each.profile, each.maker.profile, machine, timed))
        each.profile = each.maker.profile = None
        if timed is not None:
            machine.time_thunks = False
    try:
        yield
    finally:
        for each, profile, of_maker, machine, timed in kept:
            each.profile, each.maker.profile = profile, of_maker
            if timed is not None:
                machine.time_thunks = timed


def silence(framework):
    """Forget the profiles that the framework would print when the program ends."""
    del framework.profiling._atexit_print_list[:]


def forget_calls(function):
    """Set the counts of calls and their seconds to zero; what compilation took stays."""
    for each in graph.functions_in(function):
        profile = each.profile
        if not profile:
            continue
        profile.fct_callcount, profile.fct_call_time, profile.vm_call_time = 0, 0.0, 0.0
        for table in (profile.apply_time, profile.apply_callcount):
            table.clear()
        if hasattr(profile, "nbsteps"):
            profile.callcount, profile.nbsteps, profile.call_time = 0, 0, 0.0


def compile_times(function):
    """Return where the seconds of a profiled function's compilation went."""
    profile = function.profile
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
    profile = function.profile
    found = {
        "calls": profile.fct_callcount,
        "seconds": profile.fct_call_time,
        "vm_seconds": profile.vm_call_time,
        "nodes": profile.nb_nodes,
    }
    found.update(_tables(function))
    found["scans"] = _scans(function)
    return found


def _scans(function):
    found = []
    for node in graph.graph_of(function).toposort():
        inner = graph.inner_function(node)
        if inner is None or not inner.profile:
            continue
        profile = inner.profile
        one = {
            "name": graph.op_name(node.op)[:LONGEST_SCAN],
            "signature": graph.describe(inner)["signature"],
            "calls": profile.callcount,
            "steps": profile.nbsteps,
            "seconds": profile.call_time,
            "vm_seconds": profile.vm_call_time,
        }
        one.update(_tables(inner))
        one["scans"] = _scans(inner)
        found.append(one)
    return sorted(found, key=lambda scan: -scan["seconds"])


def _tables(function):
    rows = _rows(function)
    return {
        "thunk_seconds": sum(row["seconds"] for row in rows),
        "classes": _summed(rows, "class"),
        "ops": _summed(rows, "op"),
        "applies": [
            {key: row[key] for key in ("apply", "id", "seconds", "calls", "type")} for row in rows
        ],
    }


def _rows(function):
    profile = function.profile
    order = {node: place for place, node in enumerate(graph.graph_of(function).toposort())}
    rows = []
    for key, seconds in profile.apply_time.items():
        # PyTensor keeps the graph beside the node.
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
