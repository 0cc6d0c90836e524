"""The report as a plain-text table, as wide as the terminal, and as JUnit's XML."""

from __future__ import absolute_import, division, print_function

import os
import re
import shutil
import sys
import textwrap
from xml.etree import ElementTree

from verify.core.portable import text
from verify.core.report import FAIL, PASS, SKIP, speed_text

FIX = "      fix: "
FOLLOWS = "      so fail, too: "
# Of one check's detail; the report has all.
MOST_LINES = 8
# The timings of the brief table.
BRIEF = re.compile(r"import$|compile$|Gemm float|check_blas")
COLOURS = {PASS: "32", FAIL: "31;1", SKIP: "33"}
# What XML 1.0 cannot hold.
CONTROL = re.compile(text(r"[\x00-\x08\x0b\x0c\x0e-\x1f]"))


def render(report, width, colour=False, full=False, brief=False):
    """Return the table as text, `width` characters wide, with the verdict in its first line.

    full: show all lines of the checks that passed. brief: show no check that passed, and of the
    timings those of BRIEF.
    """
    checks, timings = report["checks"], report["timings"]
    if brief:
        checks = [check for check in checks if check["status"] != PASS]
        timings = [item for item in timings if BRIEF.match(item["name"])]
    parts = [
        [verdict(report)],
        textwrap.wrap(title(report), width, break_on_hyphens=False),
        check_lines(checks, width, colour, full),
        timing_lines(timings),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def check_lines(checks, width, colour=False, full=False):
    """Return the lines of checks; of a long detail the first few, of a check that passed the first.

    A fault is one row: the checks that fail because of it are named below its fix.
    """
    lines = []
    left = max([len(check["name"]) for check in checks] or [0])
    for check in checks:
        if check.get("follows"):
            continue
        status = check["status"].ljust(4)
        if colour:
            status = "\033[%sm%s\033[0m" % (COLOURS[check["status"]], status)
        head = "%s  %s  " % (status, check["name"].ljust(left))
        lines += _wrapped(head, 4 + 2 + left + 2, _shortened(check, full), width)
        if check["fix"]:
            prose, _, rest = check["fix"].partition("\n")
            lines += _wrapped(FIX, len(FIX), prose, width)
            # Lines to copy into a file must not be wrapped.
            lines += [" " * len(FIX) + line for line in rest.splitlines()]
        names = [each["name"] for each in checks if each.get("follows") == check["name"]]
        if names:
            lines += _wrapped(FOLLOWS, len(FIX), ", ".join(names), width)
    return lines


def _shortened(check, full):
    lines = check["detail"].splitlines()
    more = len(lines) - MOST_LINES
    if check["status"] == PASS:
        if len(lines) > 1 and not full:
            return lines[0] + ": --full or --json FILE shows them"
    elif more > 1:
        lines[MOST_LINES:] = ["and {:,} more: --json FILE has all".format(more)]
    return "\n".join(lines)


def title(report):
    """Return the line that names the environment and the machine."""
    framework, machine = report["framework"], report["machine"]
    subject = "%s %s, Python %s" % (framework["module"], framework["version"], framework["python"])
    if report["variant"]:
        subject = "%s: %s" % (report["variant"], subject)
    cores = "%d core%s" % (machine["cores"], "" if machine["cores"] == 1 else "s")
    return "%s, on %s (%s)" % (subject, machine["cpu"], cores)


def verdict(report):
    """Return the line that counts the checks that failed, passed and were skipped."""
    counts = dict.fromkeys((PASS, FAIL, SKIP), 0)
    for check in report["checks"]:
        counts[check["status"]] += 1
    name = report["variant"] or "this environment"
    name = "%s on %s" % (name, report["framework"]["name"])
    if counts[FAIL]:
        failed = [check for check in report["checks"] if check["status"] == FAIL]
        names = [check["name"] for check in failed if not check.get("follows")]
        summary = "%d of %d checks failed (%s)" % (
            len(names),
            sum(counts.values()),
            ", ".join(names[:3]) + (", ..." if len(names) > 3 else ""),
        )
        if len(names) < len(failed):
            summary += ", and %d because of them" % (len(failed) - len(names))
    else:
        summary = "%d checks passed" % counts[PASS]
    if counts[SKIP]:
        summary += ", %d skipped" % counts[SKIP]
    for check in report["checks"]:
        speed = check.get("speed")
        if check["name"] == "Gemm float64 speed" and speed:
            # With remarks: on a busy machine, or a library that is not the fastest.
            summary += "; Gemm float64 " + speed_text(speed, speed["remarks"])
    summary += "".join("; " + sentence for sentence in report.get("advice", ()))
    return "%s: %s" % (name, summary)


def timing_lines(timings):
    """Return a line for each timing."""
    if not timings:
        return []
    left = max(len(item["name"]) for item in timings)
    lines = []
    for item in timings:
        extent = ""
        if len(item["samples"]) > 1:
            extent = "  (%s to %s, %d samples)" % (
                _number(min(item["samples"])),
                _number(max(item["samples"])),
                len(item["samples"]),
            )
        figure = "%9s %s" % (_number(item["median"]), item["unit"])
        lines.append("%s  %s%s" % (item["name"].ljust(left), figure, extent))
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
    """Return the width in characters: COLUMNS, the terminal's, or 80."""
    if hasattr(shutil, "get_terminal_size"):
        return shutil.get_terminal_size((80, 24)).columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) else 80


def wants_colour():
    """Return whether standard output is a terminal, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def show(text):
    """Write text to standard output, with `?` for characters that its encoding lacks."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    data = text.encode(encoding, "replace")
    stream = getattr(sys.stdout, "buffer", sys.stdout)
    sys.stdout.flush()
    stream.write(data)
    stream.flush()


def junit(report):
    """Return a report's checks as the bytes of a JUnit file: a test for each check."""
    name = text(report["variant"] or report["framework"]["name"])
    suite = ElementTree.Element("testsuite", name=_clean(name))
    counts = {FAIL: 0, SKIP: 0}
    for check in report["checks"]:
        test = ElementTree.SubElement(
            suite, "testcase", classname="verify", name=_clean(check["name"])
        )
        if check["status"] in counts:
            counts[check["status"]] += 1
            kind = "failure" if check["status"] == FAIL else "skipped"
            ElementTree.SubElement(test, kind, message=_clean(check["detail"])).text = _clean(
                check["fix"] or ""
            )
        else:
            ElementTree.SubElement(test, "system-out").text = _clean(check["detail"])
    suite.set("tests", str(len(report["checks"])))
    suite.set("failures", str(counts[FAIL]))
    suite.set("skipped", str(counts[SKIP]))
    return ElementTree.tostring(suite, encoding="utf-8") + b"\n"


def _clean(value):
    return CONTROL.sub(text("?"), text(value))
