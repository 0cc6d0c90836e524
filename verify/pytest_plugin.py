"""A plugin for pytest: tests that fail where the Python that runs them has no fast BLAS.

The marker `fast_blas` and the fixture `assert_fast_blas` run the suite once, in a process of its
own, and fail a test with the checks that failed and their fixes.
"""

from __future__ import absolute_import, division, print_function

import fcntl
import io
import json
import os
import subprocess
import sys

import pytest

SUITE = os.path.dirname(os.path.abspath(__file__))
FIXTURE, MARKER = "assert_fast_blas", "fast_blas"
# Of a test: the function that fails it.
ATTRIBUTE = "_assert_fast_blas"


def pytest_configure(config):
    """Describe the marker to pytest."""
    config.addinivalue_line(
        "markers",
        MARKER + "(without=[]): fail unless Theano, a descendant of it, or NumPy uses a fast BLAS; "
        "without: names of checks that may fail",
    )


@pytest.fixture(scope="session")
def _fast_blas_report(request, tmpdir_factory):
    # The suite's report of this Python, or the messages with which it could not run.
    folder = str(tmpdir_factory.getbasetemp())
    if hasattr(request.config, "workerinput") and os.path.basename(folder).startswith("popen-"):
        # The processes of pytest-xdist on this machine have the run's new folder together, and
        # verify once. Its variables say nothing: programs that tests start inherit them.
        folder = os.path.dirname(folder)
    report = os.path.join(folder, "blas-verify.json")
    messages = os.path.join(folder, "blas-verify.txt")
    with open(os.path.join(folder, "blas-verify.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(messages):
            command = [sys.executable, SUITE, "--json", report]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            output = process.communicate()[1]
            with io.open(messages, "wb") as file:
                file.write(output)
    if not os.path.exists(report):
        with io.open(messages, encoding="utf-8", errors="replace") as file:
            return file.read().strip() or "the suite ended without a message"
    with io.open(report, encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture
def assert_fast_blas(request, _fast_blas_report):
    """Fail the test unless this Python uses a fast BLAS. If called, give the suite's report."""
    marker = request.node.get_closest_marker(MARKER) or pytest.mark.fast_blas.mark

    def check():
        __tracebackhide__ = True
        message = failure(_fast_blas_report, *marker.args, **marker.kwargs)
        if message:
            pytest.fail(message, pytrace=False)
        return _fast_blas_report

    setattr(request.node, ATTRIBUTE, check)
    return check


@pytest.fixture(autouse=True)
def _fast_blas_of_marker(request):
    if request.node.get_closest_marker(MARKER):
        request.getfixturevalue(FIXTURE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """Fail a test that asks for a fast BLAS, before it runs."""
    __tracebackhide__ = True
    getattr(item, ATTRIBUTE, lambda: None)()


def failure(report, without=()):
    """Return why a report is none of a fast BLAS, or None.

    report: as of the fixture. without: names of checks that may fail.
    """
    if not isinstance(report, dict):
        return report
    checks = report["checks"]
    names = [check["name"] for check in checks]
    unknown = sorted(set(without) - set(names))
    if unknown:
        return "%s: no check of blas-verify has this name\n  fix: take one of %s" % (
            ", ".join(unknown),
            ", ".join(names),
        )
    failed = [c for c in checks if c["status"] == "fail" and c["name"] not in without]
    if not failed:
        return None
    lines = [
        "%s does not use a fast BLAS: %d of %d checks failed (python -m blas_verify shows all)"
        % (sys.executable, len(failed), len(checks))
    ]
    for check in failed:
        lines.append("%s: %s" % (check["name"], check["detail"]))
        if check["fix"]:
            lines.append("  fix: " + check["fix"].replace("\n", "\n    "))
    return "\n".join(lines)
