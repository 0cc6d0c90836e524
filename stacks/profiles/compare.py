"""Compare two profiles: what each class, op and apply gained or lost."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stacks.core.console import as_typed
from stacks.core.errors import UsageError

MOST, LONGEST = 20, 160
KINDS = {"classes": "class", "ops": "op", "applies": "apply"}
OVERHEAD = "(scan's own overhead)"
CALLING = "(calling the function)"


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


def operation_times(profile: Mapping[str, Any], kind: str) -> dict[str, OperationTime]:
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
            _both(sum_.type, row["type"]),
            sum_.applies + row.get("applies", 1),
        )
    if profile["scans"]:
        by_name[OVERHEAD] = OperationTime(_overhead(profile) / calls, "", len(profile["scans"]))
    by_name[CALLING] = OperationTime((profile["seconds"] - profile["thunk_seconds"]) / calls, "", 1)
    return by_name


def _both(left: str, right: str) -> str:
    return " & ".join(sorted({*left.split(" & "), *right.split(" & ")}))


def _rows(profile: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    scans = [scan["name"] for scan in profile["scans"]]
    for row in profile[kind]:
        # A scan without a profile remains one row.
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


def differences(before: Mapping[str, Any], after: Mapping[str, Any], kind: str) -> list[Difference]:
    """Return a row for each class, op or apply of two profiles, the largest change first.

    kind: as for operation_times().
    """
    left, right = (operation_times(profile, kind) for profile in (before, after))
    rows = [Difference(name, left.get(name), right.get(name)) for name in {**left, **right}]
    return sorted(rows, key=lambda row: (-abs(row.gained), row.name))


def pairs(
    before: Mapping[str, Any], after: Mapping[str, Any], case: str
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return the cases that two reports share, or the one named `case`.

    Raises UsageError if workload, sizes or precision differ, or they share no such case.
    """
    for key in ("workload", "small", "dtype"):
        if before[key] != after[key]:
            raise UsageError(
                f"the reports cannot be compared: {key} differs",
                expected=before[key],
                found=after[key],
                fix="make both with the same ./invoke profile options",
            )
    left, right = ({c["name"]: c for c in report["cases"]} for report in (before, after))
    shared = [(left[n], right[n]) for n in left if n in right and case in ("", n)]
    if not shared:
        raise UsageError(
            f"the reports do not share {'the case ' + case if case else 'a case'}",
            expected=", ".join(left),
            found=", ".join(right),
        )
    return shared


def show(before: Mapping[str, Any], after: Mapping[str, Any], *, case: str = "") -> None:
    """Print what the second report gained or lost against the first, by case."""
    for left, right in pairs(before, after, case):
        lines = heading(before, after, left, right)
        if left["profile"] and right["profile"]:
            found = {kind: differences(left["profile"], right["profile"], kind) for kind in KINDS}
            for kind, name in KINDS.items():
                lines += ["", *_table(found[kind], name)]
            lines += ["", _py_to_c(found["ops"])]
        else:
            lines.append("  one report has no profile: ops cannot be compared")
        print("\n".join([*lines, ""]))


def heading(
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
        lines.append(f"  the graphs are the same: {graphs[0]['signature']}")
        return lines
    texts = [f"{g['signature']} ({g['nodes']} nodes, {len(g['scans'])} scans)" for g in graphs]
    lines.append(f"  the graphs differ: {' -> '.join(texts)}")
    if before["framework"] == after["framework"] and len(graphs[0]["scans"]) != len(
        graphs[1]["scans"]
    ):
        lines.append(
            "  the framework is the same, but the scans differ: this may be chance. "
            + as_typed("./invoke profile --compiles 5 counts how often each graph occurs")
        )
    return lines


def _table(rows: list[Difference], name: str) -> list[str]:
    """Return lines with the name last, so that a long one cannot squeeze the other columns."""
    lines = [f"{'ms more':>10} {'before':>9} {'after':>9}  {'type':<8} {'nodes':<10} {name}"]
    for row in rows[:MOST]:
        old, new = (f"{1e3 * c.seconds:.3f}" if c else "-" for c in (row.before, row.after))
        lines.append(
            f"{1e3 * row.gained:>+10.3f} {old:>9} {new:>9}  {_change(row, 'type'):<8} "
            f"{_change(row, 'applies'):<10} {row.name[:LONGEST]}"
        )
    if rows[MOST:]:
        left = 1e3 * sum(row.gained for row in rows[MOST:])
        lines.append(f"{left:>+10.3f} {'':40}... {len(rows) - MOST} more")
    return lines


def _change(row: Difference, field: str) -> str:
    old, new = (str(getattr(time, field)) if time else "-" for time in (row.before, row.after))
    return old if old == new else f"{old} -> {new}"


def _py_to_c(rows: list[Difference]) -> str:
    moved = [row for row in rows if row.now_in_c]
    if not moved:
        return "no op went from Py to C"
    gained = 1e3 * sum(row.gained for row in moved)
    names = ", ".join(row.name for row in moved)
    return f"from Py to C: {names}; {gained:+.3f} ms a call"
