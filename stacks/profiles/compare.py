"""Compare two profiles: what each class, op and apply gained or lost."""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stacks.core.errors import UsageError

MOST, LONGEST = 20, 160
KINDS = {"classes": "class", "ops": "op", "applies": "apply"}
OVERHEAD = "(scan's own overhead)"
CALLING = "(calling the function)"
Profile = Mapping[str, Any]


@dataclass(frozen=True)
class OperationTime:
    """What one class, op or apply takes of a call. type: C, Py or both. applies: its nodes."""

    seconds: float
    type: str
    applies: int


@dataclass(frozen=True)
class Difference:
    """One row: a name in two profiles; None for a profile without it."""

    name: str
    before: OperationTime | None
    after: OperationTime | None

    @property
    def gained(self) -> float:
        """Seconds of a call, after minus before."""
        before, after = (each.seconds if each else 0.0 for each in (self.before, self.after))
        return after - before

    @property
    def now_in_c(self) -> bool:
        """Whether it was Python code before and is C now."""
        return bool(
            self.before and self.after and "Py" in self.before.type and self.after.type == "C"
        )


def operation_times(profile: Profile, kind: str) -> dict[str, OperationTime]:
    """Return {name: OperationTime} of a call, with the nodes inside scans in place of the scans.

    kind: `classes`, `ops` or `applies`. The times add up to a call's seconds: the overhead of scans
    and of the function itself have rows of their own.
    """
    calls = max(profile["calls"], 1)
    by_name: dict[str, OperationTime] = {}
    for row in _rows(profile, kind):
        name = _name(row, kind)
        sum_ = by_name.get(name, OperationTime(0.0, row["type"], 0))
        by_name[name] = OperationTime(
            sum_.seconds + row["seconds"] / calls,
            " & ".join(sorted({*sum_.type.split(" & "), *row["type"].split(" & ")})),
            sum_.applies + row.get("applies", 1),
        )
    if profile["scans"]:
        by_name[OVERHEAD] = OperationTime(_overhead(profile) / calls, "", len(profile["scans"]))
    by_name[CALLING] = OperationTime((profile["seconds"] - profile["thunk_seconds"]) / calls, "", 1)
    return by_name


def _rows(profile: Profile, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a profile and of its scans, but for the scans that have a profile."""
    scans = tuple(scan["name"] for scan in profile["scans"])
    calls = tuple(f"{name}(" for name in scans)
    for row in profile[kind]:
        name = _name(row, kind)
        is_scan = {
            "classes": bool(scans) and name == "Scan",
            "ops": name in scans,
            "applies": name.startswith(calls),
        }
        if not is_scan[kind]:
            yield row
    for scan in profile["scans"]:
        yield from _rows(scan, kind)


def _overhead(profile: Profile) -> float:
    """Return the seconds of scan nodes, at any depth, without those of the nodes inside."""
    if not profile["scans"]:
        return 0.0
    nodes = sum(row["seconds"] for row in profile["classes"] if _name(row, "classes") == "Scan")
    inside = sum(scan["thunk_seconds"] - _overhead(scan) for scan in profile["scans"])
    return float(nodes - inside)


def _name(row: Mapping[str, Any], kind: str) -> str:
    text = str(row[KINDS[kind]])
    # The module of a class differs between frameworks.
    return text.rsplit(".", 1)[-1] if kind == "classes" else text


def differences(before: Profile, after: Profile, kind: str) -> list[Difference]:
    """Return a row for each class, op or apply of two profiles, the largest change first.

    kind: as for operation_times().
    """
    left, right = (operation_times(profile, kind) for profile in (before, after))
    rows = [Difference(name, left.get(name), right.get(name)) for name in {**left, **right}]
    return sorted(rows, key=lambda row: (-abs(row.gained), row.name))


def show(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Print what the second report gained or lost against the first, by case.

    Raises UsageError if workload, sizes or precision differ, or the reports share no case.
    """
    for key in ("workload", "small", "dtype"):
        if before[key] != after[key]:
            raise UsageError(
                f"the reports cannot be compared: {key} differs",
                expected=before[key],
                found=after[key],
                fix="make both with the same ./invoke profile options",
            )
    lefts, rights = ({c["name"]: c for c in report["cases"]} for report in (before, after))
    shared = [name for name in lefts if name in rights]
    if not shared:
        raise UsageError(
            "the reports do not share a case", expected=", ".join(lefts), found=", ".join(rights)
        )
    for left, right in ((lefts[name], rights[name]) for name in shared):
        lines = _heading(before, after, left, right)
        if left["profile"] and right["profile"]:
            found = {kind: differences(left["profile"], right["profile"], kind) for kind in KINDS}
            for kind, name in KINDS.items():
                lines += ["", *_table(found[kind], name)]
            moved = [row for row in found["ops"] if row.now_in_c]
            names = ", ".join(row.name for row in moved)
            gained = f"{1e3 * sum(row.gained for row in moved):+.3f} ms a call"
            moves = f"from Py to C: {names}; {gained}" if moved else "no op went from Py to C"
            lines += ["", moves]
        else:
            lines.append("  one report has no profile: ops cannot be compared")
        print("\n".join([*lines, ""]))


def _heading(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    left: Mapping[str, Any],
    right: Mapping[str, Any],
) -> list[str]:
    """Return lines with the reports' names, times of a call, and whether their graphs differ."""
    names = [
        f"{report['variant'] or 'an environment'} on {report['framework']['name']}"
        for report in (before, after)
    ]
    seconds = [statistics.median(case["seconds"]) for case in (left, right)]
    graphs = [case["graph"] for case in (left, right)]
    lines = [
        f"{before['workload']} {left['name']}, {before['dtype']}: {names[0]} -> {names[1]}",
        f"  a call: {1e3 * seconds[0]:.3f} -> {1e3 * seconds[1]:.3f} ms, "
        f"{seconds[1] / seconds[0]:.3f} of it (medians, not profiled, not timed in turn)",
    ]
    if graphs[0]["signature"] == graphs[1]["signature"]:
        return [*lines, f"  the graphs are the same: {graphs[0]['signature']}"]
    scans = [len(graph["scans"]) for graph in graphs]
    texts = [
        f"{graph['signature']} ({graph['nodes']} nodes, {count} scans)"
        for graph, count in zip(graphs, scans, strict=True)
    ]
    lines.append(f"  the graphs differ: {' -> '.join(texts)}")
    if before["framework"] == after["framework"] and scans[0] != scans[1]:
        lines.append("  the framework is the same, but the scans differ: this may be chance")
    return lines


def _table(rows: list[Difference], name: str) -> list[str]:
    """Return lines with the name last, so that a long one cannot squeeze the other columns."""
    lines = [f"{'ms more':>10} {'before':>9} {'after':>9}  {'type':<8} {'nodes':<10} {name}"]
    for row in rows[:MOST]:
        times = row.before, row.after
        old, new = (f"{1e3 * one.seconds:.3f}" if one else "-" for one in times)
        types, nodes = (
            " -> ".join(dict.fromkeys(str(getattr(one, of)) if one else "-" for one in times))
            for of in ("type", "applies")
        )
        lines.append(
            f"{1e3 * row.gained:>+10.3f} {old:>9} {new:>9}  {types:<8} {nodes:<10} "
            f"{row.name[:LONGEST]}"
        )
    if rows[MOST:]:
        left = 1e3 * sum(row.gained for row in rows[MOST:])
        lines.append(f"{left:>+10.3f} {'':40}... {len(rows) - MOST} more")
    return lines
