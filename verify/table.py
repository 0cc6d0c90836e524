"""The report as a table for people: plain text, as wide as the terminal."""

from __future__ import absolute_import, division, print_function

import os
import sys
import textwrap

from verify.core.report import FAIL, PASS, SKIP
from verify.device import report as device_report

COLOURS = {PASS: "32", FAIL: "31;1", SKIP: "33"}


def render(report, width, colour=False):
    """Return the whole table as text; the last line is the verdict."""
    lines = [title(report), ""]
    left = max([len(check["name"]) for check in report["checks"]] or [0])
    told = {}
    for check in report["checks"]:
        status = check["status"].ljust(4)
        if colour:
            status = "\033[%sm%s\033[0m" % (COLOURS[check["status"]], status)
        head = "%s  %s  " % (status, check["name"].ljust(left))
        lines += _wrapped(head, 4 + 2 + left + 2, check["detail"], width)
        if check["fix"]:
            first = told.setdefault(check["fix"], check["name"])
            fix = check["fix"] if first == check["name"] else "as for %s" % first
            prose, _, rest = fix.partition("\n")
            lines += _wrapped("      fix: ", 12, prose, width)
            # Lines that are to be copied into a file must not be broken.
            lines += [" " * 12 + line for line in rest.splitlines()]
    lines.append("")
    lines += _timings(report["timings"])
    graph = device_report.table(report.get("device"))
    lines += [""] + graph if graph else []
    lines += ["", verdict(report)]
    return "\n".join(lines) + "\n"


def title(report):
    """Return the line that says what is verified, and on what."""
    framework, machine = report["framework"], report["machine"]
    what = "%s %s, Python %s" % (framework["module"], framework["version"], framework["python"])
    if report["variant"]:
        what = "%s: %s" % (report["variant"], what)
    cores = "%d core%s" % (machine["cores"], "" if machine["cores"] == 1 else "s")
    return "%s, on %s (%s)" % (what, machine["cpu"], cores)


def verdict(report):
    """Return one sentence that says how it went."""
    counts = dict.fromkeys((PASS, FAIL, SKIP), 0)
    for check in report["checks"]:
        counts[check["status"]] += 1
    name = report["variant"] or "this environment"
    name = "%s on %s" % (name, report["framework"]["name"])
    if counts[FAIL]:
        names = [check["name"] for check in report["checks"] if check["status"] == FAIL]
        words = "%d of %d checks failed (%s)" % (
            counts[FAIL],
            sum(counts.values()),
            ", ".join(names[:3]) + (", ..." if len(names) > 3 else ""),
        )
    else:
        words = "%d checks passed" % counts[PASS]
    if counts[SKIP]:
        words += ", %d skipped" % counts[SKIP]
    for check in report["checks"]:
        if check["name"] == "Gemm float64 speed" and check["status"] != SKIP:
            words += "; Gemm float64 " + check["detail"].split(";")[0]
    return "%s: %s" % (name, words)


def _timings(timings):
    if not timings:
        return []
    left = max(len(item["name"]) for item in timings)
    lines = []
    for item in timings:
        spread = ""
        if len(item["samples"]) > 1:
            ends = _number(min(item["samples"])), _number(max(item["samples"]))
            spread = "  (%s to %s, %d samples)" % (ends + (len(item["samples"]),))
        figure = "%9s %s" % (_number(item["median"]), item["unit"])
        lines.append("%s  %s%s" % (item["name"].ljust(left), figure, spread))
    return lines


def _number(value):
    return "%.1f" % value if value >= 10 else "%.2f" % value


def _wrapped(head, indent, text, width):
    room = max(width - indent, 30)
    lines = []
    for line in text.splitlines() or [""]:
        lines += textwrap.wrap(line, room, break_on_hyphens=False, break_long_words=False) or [""]
    return [head + lines[0]] + [" " * indent + line for line in lines[1:]]


def terminal_width():
    """Return the width to write for: the terminal's, COLUMNS, or 100."""
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    if hasattr(os, "get_terminal_size"):
        try:
            return os.get_terminal_size(sys.stdout.fileno()).columns or 100
        except (OSError, ValueError):
            pass
    return 100


def wants_colour():
    """Say whether standard output is a terminal whose owner has not refused colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def show(text):
    """Write to standard output, with `?` for what its encoding cannot say."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    data = text.encode(encoding, "replace")
    stream = getattr(sys.stdout, "buffer", sys.stdout)
    sys.stdout.flush()
    stream.write(data)
    stream.flush()
