"""What the suite writes: the report for machines and the table for people."""

import importlib
import json
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

# The suite is written for Python 2.7 too, so it has no types that a checker could follow.
report = importlib.import_module("verify.core.report")
table = importlib.import_module("verify.table")
machine = importlib.import_module("verify.core.machine")
jsonschema = importlib.import_module("jsonschema")

SCHEMA = json.loads((REPOSITORY / "verify/report.schema.json").read_text())


def content(*checks: object, home: str = "/usr") -> dict[str, object]:
    made: dict[str, object] = report.document(
        variant="pip-openblas",
        framework={
            "name": "theano-1.0.5",
            "module": "theano",
            "version": "1.0.5",
            "python": "3.9.2",
        },
        machine={
            "cpu": "A processor",
            "vendor": "Maker",
            "cores": 2,
            "memory": 1 << 30,
            "kernel": "6.1",
            "glibc": "2.36",
            "peak": [{"dtype": "float64", "threads": 1, "gflops": 58.2}],
        },
        settings={
            "floatX": "float64",
            "ldflags": f"-L{home}/lib -lopenblas",
            "cxx": "g++",
            "mode": "Mode",
            "linker": "cvm",
            "threads": 2,
        },
        packages=[{"name": "numpy", "version": "1.22.4", "sha256": "00"}],
        checks=checks or (report.passed("blas.ldflags", "-lopenblas"),),
        timings=[report.timing("import", "s", [1.5, 1.0, 1.25])],
    )
    return made


def test_the_report_follows_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(content(), SCHEMA)


def test_the_schema_refuses_what_it_does_not_know() -> None:
    with pytest.raises(jsonschema.ValidationError, match="host"):
        jsonschema.validate({**content(), "host": "x"}, SCHEMA)


def test_the_schema_wants_a_fix_for_every_failure() -> None:
    bad = content(report.Check("scan in C", "fail", "it is Python", None))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, SCHEMA)


def test_ok_means_that_nothing_failed() -> None:
    assert content(report.passed("a", ""), report.skipped("b", "why"))["ok"] is True
    assert content(report.passed("a", ""), report.failed("b", "x", "y"))["ok"] is False


def test_the_median_of_an_even_count_lies_between() -> None:
    assert report.timing("t", "s", [4, 1, 2, 3]).median == 2.5
    assert report.timing("t", "s", [3, 1, 2]).median == 2


def test_the_users_own_folder_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    text = json.dumps(content(home="/home/somebody"))
    assert "somebody" not in text
    assert "-L~/lib" in text


def test_the_machine_is_told_without_its_name() -> None:
    described = machine.describe({"float64": {1: 2.0}})
    assert described["cores"] >= 1 and described["memory"] > 0
    assert set(described) == set(SCHEMA["properties"]["machine"]["properties"])


def test_a_report_replaces_the_old_one_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    report.write(str(path), content())
    assert json.loads(path.read_text())["variant"] == "pip-openblas"
    assert list(tmp_path.iterdir()) == [path]


def test_the_table() -> None:
    shown = table.render(
        content(
            report.passed("blas.ldflags", "-lopenblas"),
            report.failed(
                "Gemv in C", "it is Py", "put this into ~/.theanorc:\n[blas]\nldflags = -lx"
            ),
            report.failed(
                "Ger in C", "so is it", "put this into ~/.theanorc:\n[blas]\nldflags = -lx"
            ),
        ),
        60,
    )
    assert shown == (
        "pip-openblas: theano 1.0.5, Python 3.9.2, on A processor (2 cores)\n"
        "\n"
        "pass  blas.ldflags  -lopenblas\n"
        "fail  Gemv in C     it is Py\n"
        "      fix: put this into ~/.theanorc:\n"
        "            [blas]\n"
        "            ldflags = -lx\n"
        "fail  Ger in C      so is it\n"
        "      fix: as for Gemv in C\n"
        "\n"
        "import       1.25 s  (1.00 to 1.50, 3 samples)\n"
        "\n"
        "pip-openblas on theano-1.0.5: 2 of 3 checks failed (Gemv in C, Ger in C)\n"
    )


def test_the_table_is_as_wide_as_it_is_told() -> None:
    long = report.passed("serving library", "some words " * 40)
    lines = table.render(content(long), 80).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert sum("some words" in line for line in lines) > 1
