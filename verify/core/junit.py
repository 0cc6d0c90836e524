"""The checks of a report as JUnit's XML, which CI systems show."""

from __future__ import absolute_import, division, print_function

import re
from xml.etree import ElementTree

from verify.core.report import FAIL, SKIP
from verify.core.text import text

# What XML 1.0 cannot hold.
CONTROL = re.compile(text(r"[\x00-\x08\x0b\x0c\x0e-\x1f]"))


def document(report):
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
