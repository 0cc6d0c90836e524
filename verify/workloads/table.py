"""Render the report of a workload as text, its profiles in the form of Theano's."""

from __future__ import absolute_import, division, print_function

from verify.core.report import median

MOST = 20
HEAD = "<% time> <sum %> <apply time> <time per call> <type> <#call> "
TABLES = (
    ("Class", "classes", "class", HEAD + "<#apply> <Class name>"),
    ("Ops", "ops", "op", HEAD + "<#apply> <Op name>"),
    ("Apply", "applies", "apply", HEAD + "<id> <Apply name>"),
)
FUNCTION = """\
Function profiling
==================
  Message: %(name)s
  Time in %(calls)d calls to Function.__call__: %(seconds)es
  Time in Function.fn.__call__: %(vm_seconds)es (%(vm).3f%%)
  Time in thunks: %(thunk_seconds)es (%(thunks).3f%%)
  Total compile time: %(total)es
    Number of Apply nodes: %(nodes)d
    Theano Optimizer time: %(optimiser)es
       Theano validate time: %(validation)es
    Theano Linker time (includes C, CUDA code generation/compiling): %(linker)es
       Import time %(import)es

"""
SCAN = """
Scan Op profiling ( %(name)s )
==================
  Time in %(calls)d calls of the op (for a total of %(steps)d steps) %(seconds)es

  Total time spent in calling the VM %(vm_seconds)es (%(vm).3f%%)
  Total overhead (computing slices..) %(overhead)es (%(rest).3f%%)

"""
PLACES = (
    "  %(nodes)d nodes on the device; transfers: %(to_device)d to, %(from_device)d from; "
    "left on the host: %(host)s"
)


def render(content):
    """Return the whole report as text."""
    framework = content["framework"]
    title = "%s, %s on %s %s, Python %s" % (
        content["workload"],
        content["dtype"],
        framework["module"],
        framework["version"],
        framework["python"],
    )
    if content["variant"]:
        title = "%s: %s" % (content["variant"], title)
    lines = [title]
    device = content.get("device")
    if device:
        lines.append("on %(where)s: %(name)s, %(driver)s" % device)
        profiled = any(case["profile"] for case in content["cases"])
        nodes = ", in the profile each node" if profiled else ""
        lines.append("each call waits for the device" + nodes)
    for case in content["cases"]:
        lines += [""] + _summary(case)
    lines += [""] + _gradients(content) if content.get("grad_seconds") else []
    lines += _comparisons(content["cases"])
    for case in content["cases"]:
        if case["profile"]:
            lines += ["", ""] + _profile(case)
            lines += [case["profile"].get("tips", "").rstrip()]
    return "\n".join(lines) + "\n"


def render_program(content):
    """Return the report of a person's own program as text."""
    lines = ["%s: %s" % (content["variant"], " ".join(content["command"]))]
    for process in content["processes"]:
        framework = process["framework"]
        lines += ["", "process %(process)d of %(module)s %(version)s" % dict(process, **framework)]
        lines += _gradients(process)
        for function in process["functions"]:
            if not function["profile"]:
                lines.append("  %(name)s: compiled, never called" % function)
                continue
            lines += [""] + _profile(function)
            lines += [text.rstrip() for text in (function["memory"], function["tips"]) if text]
    return "\n".join(lines) + "\n"


def _gradients(content):
    """Return the line of the time in grad(), as Theano's profile has it."""
    if content["grad_seconds"] is None:
        return []
    names = content["framework"]["module"], content["grad_seconds"]
    return ["Time in all call to %s.grad() %es" % names]


def _comparisons(cases):
    """Return a line for each case that is the fast way to compute what another computes."""
    by_name, lines = {case["name"]: case for case in cases}, []
    for fast in cases:
        slow = by_name.get(fast.get("slow"))
        if slow:
            times = median(slow["seconds"]) / median(fast["seconds"])
            words = (fast["name"], slow["name"], times)
            line = "%s instead of %s: %.2f times as fast" % words
            if slow["graph"]["signature"] == fast["graph"]["signature"]:
                line += "; the optimised graphs are the same"
            lines.append(line)
    return [""] * bool(lines) + lines


def _summary(case):
    shape = ", ".join("%s %s" % (key, case["shape"][key]) for key in sorted(case["shape"]))
    samples, compiling, graph = case["seconds"], case["compile"], case["graph"]
    lines = [
        "%s (%s)" % (case["name"], shape),
        "  a call: %.3f ms, median of %d (%.3f to %.3f), not profiled"
        % (1e3 * median(samples), len(samples), 1e3 * min(samples), 1e3 * max(samples)),
        "  compiled in %.1f s, %d modules of C; the graph is %s: %d nodes"
        % (compiling["seconds"], compiling["modules"], graph["signature"], graph["nodes"]),
    ]
    lines += ["    scan %(signature)s: %(nodes)d nodes, %(name)s" % scan for scan in graph["scans"]]
    places, memory = case.get("places"), case.get("memory")
    if places:
        host = ", ".join("%s %d" % item for item in sorted(places["host"].items()))
        words = dict(places, nodes=sum(places["device"].values()), host=host or "nothing")
        lines.append(PLACES % words)
    if memory:
        most = "unknown" if memory["peak"] is None else "%.2f MB" % (memory["peak"] / 1e6)
        words = (most, memory["kept"] / 1e6)
        lines.append("  memory: %s more during a call; %.2f MB of results stay" % words)
    if case["flops"]:
        lines.append("  %.1f GFLOP/s" % (case["flops"] * len(samples) / sum(samples) / 1e9))
    return lines


def _profile(case):
    profile = case["profile"]
    share = 100 / (profile["seconds"] or 1.0)
    values = {"vm": share * profile["vm_seconds"], "thunks": share * profile["thunk_seconds"]}
    # The compilation has seconds, too.
    values = dict(dict(case["compile"], **profile), name=case["name"], **values)
    return (FUNCTION % values).splitlines() + _tables(profile) + _scans(profile["scans"])


def _scans(scans):
    lines = []
    for scan in scans:
        share, overhead = 100 / (scan["seconds"] or 1.0), scan["seconds"] - scan["vm_seconds"]
        values = {"vm": share * scan["vm_seconds"], "overhead": overhead, "rest": share * overhead}
        lines += (SCAN % dict(scan, **values)).splitlines() + _tables(scan) + _scans(scan["scans"])
    return lines


def _tables(profile):
    lines = []
    for title, key, name, head in TABLES:
        lines += [title, "---", head]
        lines += _rows(profile[key], name, profile["thunk_seconds"] or 1.0)
        lines.append("")
    return lines


def _rows(rows, name, whole):
    lines, total = [], 0.0
    for row in rows[:MOST]:
        total += row["seconds"]
        lines.append(
            "  %5.1f%%  %6.1f%%  %10.3fs  %12.2es  %-6s %8d %8d   %s"
            % (
                100 * row["seconds"] / whole,
                100 * total / whole,
                row["seconds"],
                row["seconds"] / max(row["calls"], 1),
                row["type"],
                row["calls"],
                row["id"] if name == "apply" else row["applies"],
                row[name],
            )
        )
    rest = rows[MOST:]
    if rest:
        seconds = sum(row["seconds"] for row in rest)
        lines.append(
            "   ... (remaining %d %s account for %6.2f%%(%.2fs) of the runtime)"
            % (
                len(rest),
                {"class": "Classes", "op": "Ops"}.get(name, "Apply instances"),
                100 * seconds / whole,
                seconds,
            )
        )
    return lines
