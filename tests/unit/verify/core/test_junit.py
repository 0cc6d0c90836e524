from __future__ import annotations

import importlib
from typing import Any
from xml.etree import ElementTree

junit = importlib.import_module("verify.table")
report = importlib.import_module("verify.core.report")


def content(*checks: Any) -> dict[str, Any]:
    return {
        "variant": None,
        "framework": {"name": "numpy-2.0"},
        "checks": [check._asdict() for check in checks],
    }


def test_each_check_is_a_test_with_its_result() -> None:
    suite = ElementTree.fromstring(
        junit.junit(
            content(
                report.passed("threads", "2 threads"),
                report.failed("kernels", "SSE2 <slow> & old: é", "export A=1"),
                report.skipped("versions", "no lock"),
            )
        )
    )
    counts = {"name": "numpy-2.0", "tests": "3", "failures": "1", "skipped": "1"}
    assert (suite.tag, dict(suite.items())) == ("testsuite", counts)
    assert [test.get("name") for test in suite] == ["threads", "kernels", "versions"]
    [output], [failure], [skipped] = suite
    assert (output.tag, output.text) == ("system-out", "2 threads")
    assert (failure.tag, failure.text) == ("failure", "export A=1")
    assert failure.get("message") == "SSE2 <slow> & old: é"
    assert (skipped.tag, skipped.get("message")) == ("skipped", "no lock")


def test_what_xml_cannot_hold_becomes_a_question_mark() -> None:
    [test] = ElementTree.fromstring(junit.junit(content(report.passed("a", "x\x00\x1b[1m\n"))))
    assert test[0].text == "x??[1m\n"
