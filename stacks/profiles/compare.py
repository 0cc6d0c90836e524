"""Two profiles side by side: what each class, op and apply gained or lost."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stacks.core.errors import UsageError
from stacks.profiles import counterparts

MOST, LONGEST = 20, 160
KINDS = {"classes": "class", "ops": "op", "applies": "apply"}
OVERHEAD = "(scan's own overhead)"
CALLING = "(calling the function)"


@dataclass(frozen=True)
class Cost:
    """What one class, op or apply takes of a call: seconds, implementation, nodes, their calls.

    `names` are those that it has in its profile, and `place` is where it computes.
    """

    seconds: float
    type: str
    applies: int
    calls: float = 0.0
    names: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class Difference:
    """One row: the same name in both profiles; None where one of them has not got it."""

    name: str
    before: Cost | None
    after: Cost | None

    @property
    def gained(self) -> float:
        """Seconds that a call lost (below zero) or takes more (above)."""
        return _of(self.after) - _of(self.before)

    @property
    def now_in_c(self) -> bool:
        """Whether Python code did it before and C does now."""
        return bool(
            self.before and self.after and "Py" in self.before.type and self.after.type == "C"
        )


def _of(cost: Cost | None) -> float:
    return cost.seconds if cost else 0.0


def costs(profile: Mapping[str, Any], kind: str, *, matched: bool = False) -> dict[str, Cost]:
    """Return {name: Cost} of a call, the insides of scans counted in place of the scans.

    `kind` is `classes`, `ops` or `applies`. The costs sum up to a call's seconds: what scan and
    the function itself take beyond their nodes has rows of its own. `matched` gives the operations
    of a device and their counterparts on the host the same names.
    """
    calls = max(profile["calls"], 1)
    found: dict[str, Cost] = {}
    for row in _rows(profile, kind):
        own = _name(row, kind)
        name = counterparts.counterpart(own, kind) if matched else own
        known = found.get(name, Cost(0.0, row["type"], 0, place=counterparts.place(own)))
        found[name] = Cost(
            known.seconds + row["seconds"] / calls,
            _both(known.type, row["type"]),
            known.applies + row.get("applies", 1),
            known.calls + row["calls"] / calls,
            tuple(sorted({*known.names, own})),
            _both(known.place, counterparts.place(own)),
        )
    if profile["scans"]:
        found[OVERHEAD] = Cost(_overhead(profile) / calls, "", len(profile["scans"]))
    found[CALLING] = Cost((profile["seconds"] - profile["thunk_seconds"]) / calls, "", 1)
    return found


def _both(left: str, right: str) -> str:
    return " & ".join(sorted({*left.split(" & "), *right.split(" & ")}))


def _rows(profile: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    scans = [scan["name"] for scan in profile["scans"]]
    for row in profile[kind]:
        # A scan without a profile of its own stays one row.
        if not (scans and _is_scan(row, kind, scans)):
            yield row
    for scan in profile["scans"]:
        yield from _rows(scan, kind)


def _is_scan(row: Mapping[str, Any], kind: str, scans: list[str]) -> bool:
    if kind == "classes":
        return _name(row, kind) == "Scan"
    if kind == "ops":
        return row["op"] in scans
    return any(row["apply"].startswith(f"{name}(") for name in scans)


def _overhead(profile: Mapping[str, Any]) -> float:
    """Return the seconds of scan nodes, at any depth, that are not those of the nodes inside."""
    if not profile["scans"]:
        return 0.0
    nodes = sum(row["seconds"] for row in profile["classes"] if _name(row, "classes") == "Scan")
    inside = sum(scan["thunk_seconds"] - _overhead(scan) for scan in profile["scans"])
    return float(nodes - inside)


def _name(row: Mapping[str, Any], kind: str) -> str:
    text = str(row[KINDS[kind]])
    # The same class lies in other modules in other frameworks.
    return text.rsplit(".", 1)[-1] if kind == "classes" else text


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], kind: str, *, matched: bool = False
) -> list[Difference]:
    """Return a row for each class, op or apply of two profiles, the largest change first.

    `matched`: as of `costs`.
    """
    left, right = (costs(profile, kind, matched=matched) for profile in (before, after))
    rows = [Difference(name, left.get(name), right.get(name)) for name in {**left, **right}]
    return sorted(rows, key=lambda row: (-abs(row.gained), row.name))


def pairs(
    before: Mapping[str, Any], after: Mapping[str, Any], case: str
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the cases that two reports share, or the one called `case`.

    Raises UsageError where the reports are of different workloads, sizes or precisions, or share
    no such case.
    """
    for key in ("workload", "small", "dtype"):
        if before[key] != after[key]:
            raise UsageError(
                f"these reports do not compare: {key} differs",
                expected=before[key],
                found=after[key],
                fix="make both with the same ./invoke profile options",
            )
    others = {found["name"]: found for found in after["cases"]}
    shared = [
        (found, others[found["name"]])
        for found in before["cases"]
        if found["name"] in others and case in ("", found["name"])
    ]
    if not shared:
        raise UsageError(
            f"the reports do not share {'the case ' + case if case else 'a case'}",
            expected=", ".join(found["name"] for found in before["cases"]),
            found=", ".join(others),
        )
    return shared


def show(before: Mapping[str, Any], after: Mapping[str, Any], *, case: str = "") -> None:
    """Print what the second report gained or lost against the first, case by case."""
    for left, right in pairs(before, after, case):
        lines = heading(before, after, left, right)
        if left["profile"] and right["profile"]:
            lines += _tables(before, after, left, right)
        else:
            lines.append("  one of them has no profile: there is nothing to compare by op")
        print("\n".join([*lines, ""]))


def _tables(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    left: Mapping[str, Any],
    right: Mapping[str, Any],
) -> list[str]:
    devices = [bool(report.get("device")) for report in (before, after)]
    # The applies of a device have other inputs than those of the host: none of them match.
    kinds = KINDS if devices[0] == devices[1] else {k: KINDS[k] for k in ("classes", "ops")}
    lines, found = [], {}
    for kind, name in kinds.items():
        found[kind] = differences(
            left["profile"], right["profile"], kind, matched=devices[0] != devices[1]
        )
        lines += ["", *_table(found[kind], name, placed=any(devices))]
    if devices[0] == devices[1]:
        lines += ["", _py_to_c(found["ops"])]
    if any(devices):
        lines.append("")
    for report, case in ((before, left), (after, right)):
        if report.get("device"):
            lines += device_lines(report, case)
    return lines


def device_lines(report: Mapping[str, Any], case: Mapping[str, Any]) -> list[str]:
    """Say of a case on a device what was waited for, what was moved, and what stayed behind."""
    profile, places = case["profile"], case["places"]
    found = costs(profile, "classes")
    # `Elemwise of Composite` is of the class Elemwise.
    behind = {name.partition(" ")[0] for name in places["host"]}
    stayed = {
        name: cost.seconds
        for name, cost in found.items()
        if name in behind or (name == OVERHEAD and "Scan" in behind)
    }
    moved = sum(cost.seconds for cost in found.values() if cost.place == counterparts.BETWEEN)
    largest = sorted(stayed.items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{name} {1e3 * seconds:.3f} ms" for name, seconds in largest)
    return [
        f"{_variant(report)} on {report['device']['where']}: a profiled call took "
        f"{1e3 * profile['seconds'] / max(profile['calls'], 1):.3f} ms, as each node was waited "
        "for; calls that are not profiled wait only at their end",
        f"  transfers: {places['to_device']} to the device, {places['from_device']} from it, "
        f"{1e3 * moved:.3f} ms a call",
        f"  stayed on the host: {told or 'nothing that computes with floats'}",
    ]


def heading(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    left: Mapping[str, Any],
    right: Mapping[str, Any],
) -> list[str]:
    """Return what is compared, the times of a call, and whether the graphs are the same."""
    names = [f"{_variant(report)} on {report['framework']['name']}" for report in (before, after)]
    seconds = [statistics.median(found["seconds"]) for found in (left, right)]
    graphs = [found["graph"] for found in (left, right)]
    lines = [
        f"{before['workload']} {left['name']}, {before['dtype']}: {names[0]} -> {names[1]}",
        f"  a call: {1e3 * seconds[0]:.3f} -> {1e3 * seconds[1]:.3f} ms, "
        f"{seconds[1] / seconds[0]:.3f} of it (medians, not profiled, not interleaved)",
    ]
    if graphs[0]["signature"] == graphs[1]["signature"]:
        lines.append(f"  the graphs are the same: {graphs[0]['signature']}")
        return lines
    told = [f"{g['signature']} ({g['nodes']} nodes, {len(g['scans'])} scans)" for g in graphs]
    lines.append(f"  the graphs differ: {told[0]} -> {told[1]}")
    if before["framework"] == after["framework"] and len(graphs[0]["scans"]) != len(
        graphs[1]["scans"]
    ):
        lines.append(
            "  one framework gave different scans: this difference may be chance. "
            "./invoke profile --compiles 5 tells how often each comes"
        )
    return lines


def _variant(report: Mapping[str, Any]) -> str:
    return str(report["variant"] or "an environment")


def _table(rows: list[Difference], name: str, *, placed: bool) -> list[str]:
    """Return lines whose last column is the name, so that a long one cannot squeeze the others."""
    where = f"{'place':<18} " if placed else ""
    lines = [f"{'ms more':>10} {'before':>9} {'after':>9}  {'type':<8} {'nodes':<10} {where}{name}"]
    for row in rows[:MOST]:
        old, new = (f"{1e3 * c.seconds:.3f}" if c else "-" for c in (row.before, row.after))
        where = f"{_change(row, 'place'):<18} " if placed else ""
        lines.append(
            f"{1e3 * row.gained:>+10.3f} {old:>9} {new:>9}  {_change(row, 'type'):<8} "
            f"{_change(row, 'applies'):<10} {where}{_named(row)}"
        )
    if rows[MOST:]:
        left = 1e3 * sum(row.gained for row in rows[MOST:])
        lines.append(f"{left:>+10.3f} {'':40}... {len(rows) - MOST} more")
    return lines


def _named(row: Difference) -> str:
    both = [", ".join(cost.names) for cost in (row.before, row.after) if cost and cost.names]
    return " -> ".join(name[:LONGEST] for name in dict.fromkeys(both)) or row.name


def _change(row: Difference, field: str) -> str:
    old, new = (str(getattr(cost, field)) if cost else "-" for cost in (row.before, row.after))
    return old if old == new else f"{old} -> {new}"


def _py_to_c(rows: list[Difference]) -> str:
    moved = [row for row in rows if row.now_in_c]
    if not moved:
        return "no op went from Py to C"
    gained = 1e3 * sum(row.gained for row in moved)
    names = ", ".join(row.name for row in moved)
    return f"from Py to C: {names}; {gained:+.3f} ms a call"
