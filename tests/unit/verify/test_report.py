"""The report: its file and schema, as a table for people, and as JUnit's XML."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from stacks.core.disk import REPOSITORY
from unit.helpers.verification import document
from verify import table
from verify.core import report

SCHEMA = json.loads((REPOSITORY / "verify/report.schema.json").read_text())


def test_the_schema_needs_a_fix_for_every_failed_check() -> None:
    bad = document(report.Check("scan in C", "fail", "it is Python", None, None))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, SCHEMA)


def test_the_home_folder_is_a_tilde_in_a_file_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    content = document(home="/home/somebody")
    assert "-L/home/somebody/lib" in json.dumps(content)
    report.write(str(tmp_path / "report.json"), content)
    text = (tmp_path / "report.json").read_text()
    assert "somebody" not in text
    assert "-L~/lib" in text


def test_a_report_replaces_the_old_one_or_what_a_link_leads_to(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    report.write(str(path), document())
    assert json.loads(path.read_text())["variant"] == "pip-openblas"
    (tmp_path / "link").symlink_to(path.name)
    report.write_atomically(str(tmp_path / "link"), b"whole")
    assert path.read_bytes() == b"whole" and (tmp_path / "link").is_symlink()
    # No temporary file is left.
    assert len(list(tmp_path.iterdir())) == 2


def test_a_report_into_a_pipe_replaces_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "stdout").symlink_to("pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        report.write_atomically(str(tmp_path / "stdout"), b"whole")
        assert reader.communicate()[0] == b"whole"
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "stdout").is_symlink()
    # One without a path, as /dev/stdout before `| jq`.
    end, writer = os.pipe()
    report.write_atomically(f"/dev/fd/{writer}", b"whole")
    os.close(writer)
    assert os.read(end, 99) == b"whole"
    os.close(end)


FIX = "put this into ~/.theanorc:\n[blas]\nldflags = -lx"


def test_the_whole_table() -> None:
    content = document(
        report.passed("blas.ldflags", "-lopenblas"),
        report.failed("Gemv in C", "it is Py", FIX),
        report.failed("Ger in C", "so is it", FIX),
    )
    assert table.render(content, 60) == (
        "pip-openblas on theano-1.0.5: 1 of 3 checks failed (Gemv in C), and 1 because of them\n"
        "\n"
        "pip-openblas: theano 1.0.5, Python 3.9.2, on A processor (2\n"
        "cores)\n"
        "\n"
        "pass  blas.ldflags  -lopenblas\n"
        "fail  Gemv in C     it is Py\n"
        "      fix: put this into ~/.theanorc:\n"
        "           [blas]\n"
        "           ldflags = -lx\n"
        "      so fail, too: Ger in C\n"
        "\n"
        "import       1.25 s  (1.00 to 1.50, 3 samples)\n"
    )


def test_the_brief_table_has_the_main_timings_and_what_did_not_pass() -> None:
    content = document(report.passed("threads", "2"), report.skipped("numba", "not used"))
    content["timings"].append(report.timing("peak float64, 1 thread", "GFLOP/s", [50])._asdict())
    assert table.render(content, 80, brief=True).splitlines()[4:] == [
        "skip  numba  not used",
        "",
        "import       1.25 s  (1.00 to 1.50, 3 samples)",
    ]
    passed = table.render(document(report.passed("threads", "2")), 80, brief=True)
    assert "threads" not in passed and "\n\n\n" not in passed


def test_the_table_wraps_details_at_its_width() -> None:
    long = report.passed("serving library", "some words " * 40)
    lines = table.render(document(long), 80).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert sum("some words" in line for line in lines) > 1


def test_of_a_check_that_passed_the_first_line_is_shown_and_with_full_all() -> None:
    checks = report.passed("known faults", "2 of this version\na: write b\nc: write d")
    short = table.render(document(checks), 80)
    assert "2 of this version: --full or --json FILE shows them\n" in short
    assert "a: write b" not in short
    full = table.render(document(checks), 80, full=True).splitlines()
    start = full.index("pass  known faults  2 of this version")
    assert [line.strip() for line in full[start + 1 : start + 3]] == ["a: write b", "c: write d"]


def test_the_verdict_counts_skipped_checks_and_has_the_speed_of_gemm_and_the_advice() -> None:
    figures = {"gflops": 83.14, "share": 0.714, "least": 0.655, "disturbed": False}
    speed = {**figures, "remarks": ["busy", "not the fastest"]}
    gemm = report.passed("Gemm float64 speed", "8.1 GFLOP/s; (other words)")._replace(speed=speed)
    content = document(gemm, report.skipped("versions", "no lock"))
    assert table.verdict({**content, "advice": ["MKL is slow here"]}) == (
        "pip-openblas on theano-1.0.5: 1 checks passed, 1 skipped; "
        "Gemm float64 at best 83.1 GFLOP/s, 71 % of this machine's peak (66 to 71 %; "
        "busy; not the fastest); MKL is slow here"
    )


def test_characters_that_the_encoding_lacks_become_question_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    output = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output, encoding="ascii"))
    table.show("libé\n")
    assert output.getvalue() == b"lib?\n"


def test_each_check_is_a_test_with_its_result() -> None:
    checks = (
        report.passed("threads", "2\x00\x1b[1m threads"),
        report.failed("kernels", "SSE2 <slow> & old: é", "export A=1"),
        report.skipped("versions", "no lock"),
    )
    suite = ElementTree.fromstring(table.junit({**document(*checks), "variant": None}))
    counts = {"name": "theano-1.0.5", "tests": "3", "failures": "1", "skipped": "1"}
    assert (suite.tag, dict(suite.items())) == ("testsuite", counts)
    assert [test.get("name") for test in suite] == ["threads", "kernels", "versions"]
    [output], [failure], [skipped] = suite
    assert (output.tag, output.text) == ("system-out", "2??[1m threads")
    assert (failure.tag, failure.text) == ("failure", "export A=1")
    assert failure.get("message") == "SSE2 <slow> & old: é"
    assert (skipped.tag, skipped.get("message")) == ("skipped", "no lock")
