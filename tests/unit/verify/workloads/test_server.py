"""The process that serves calls of a compiled workload."""

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from stacks.core.disk import REPOSITORY
from unit.helpers.suite import suite_module

server = suite_module("workloads.cli")


class Run:
    """A workload with one case."""

    def compiled(self) -> list[dict[str, str]]:
        return [{"name": "step"}]

    def call(self, calls: int) -> dict[str, list[float]]:
        return {"step": [0.5] * calls}


def test_a_response_to_each_request(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.BytesIO()
    monkeypatch.setattr(server, "take_stdout", lambda: output)
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"calls": 2}\n{"calls": 1}\n'))
    server.serve(Run())
    responses: list[Any] = [json.loads(line) for line in output.getvalue().splitlines()]
    assert responses == [
        {"ready": [{"name": "step"}]},
        {"seconds": {"step": [0.5, 0.5]}},
        {"seconds": {"step": [0.5]}},
    ]


def test_what_a_library_prints_goes_to_standard_error() -> None:
    program = (
        "import os; from verify.workloads import cli; file = cli.take_stdout(); "
        "print('noise', flush=True); os.write(1, b'more'); file.write(b'response')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == (b"response", b"noise\nmore")
