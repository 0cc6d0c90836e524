"""The suite as a program, on real environments."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import jsonschema
import pytest

from integration.conftest import Prefix
from integration.programs import printed, run
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.distribution import release

SUITE = REPOSITORY / "verify"
EXPECTATION = "etc/theano-stacks/expect.json"
# Their environments are verified by the suite in one file; Python 2.7, 3.9 and 3.13.
AS_ONE_FILE = ("theano-0.8.2", "theano-pymc-1.1.2", "pytensor-3.3.7")


@pytest.mark.parametrize(
    ("framework", "flavour"),
    [
        ("theano-1.0.5", "pip-openblas"),
        ("theano-1.0.5", "pip-default"),
        ("theano-0.8.2", "pip-openblas"),
        ("theano-0.8.2", "pip-default"),
        # Only this Theano's modules show what GCC forgets without the header's no-ipa-ra.
        ("theano-0.8.2", "mkl-amdlibm"),
        ("theano-pymc-1.1.2", "openblas"),
        ("aesara-2.8.7", "openblas"),
        ("pytensor-2.38.3", "openblas"),
        ("pytensor-3.3.7", "openblas"),
    ],
)
def test_a_built_environment_passes(
    prefix: Prefix, workspace: Workspace, tmp_path: Path, framework: str, flavour: str
) -> None:
    place, report, suite = prefix(framework, flavour), tmp_path / "report.json", SUITE
    if framework in AS_ONE_FILE:
        suite = tmp_path / release.SUITE
        release.write_suite(workspace, suite)
    before = sorted(tmp_path.iterdir())
    words = (suite, "--expect", place / EXPECTATION, "--json", report)
    variables = {"COLUMNS": "100", "THEANO_STACKS_MODULES": str(tmp_path / "modules")}
    done = run(place, *words, cwd=tmp_path, TMPDIR=str(tmp_path), **variables)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout
    assert lines[0].startswith(f"{flavour} on {framework}: ") and "checks passed" in lines[0]
    # Beside other programs no share can be told.
    assert "GFLOP/s" in lines[0] or "too noisy to judge" in lines[0]
    assert lines[2].startswith(f"{flavour}: {framework.partition('-')[0]} ")
    content = json.loads(report.read_text())
    jsonschema.validate(content, json.loads((SUITE / "report.schema.json").read_text()))
    assert content["ok"] is True
    assert {c["status"] for c in content["checks"]} <= {"pass", "skip"}
    names = {timing["name"] for timing in content["timings"]}
    assert names >= {"import", "compile"}
    # Beside other programs it may take longer than the suite waits for.
    assert "check_blas 2000" in names or "check_blas 2000 would take" in done.stderr
    # Environments with the accelerator keep their modules for the next verification.
    left = set(tmp_path.iterdir()) - {tmp_path / "modules"}
    assert left == {*before, report}, "only the report is left"


@pytest.mark.parametrize(
    ("framework", "flavour"),
    [
        # On Python 2.7. The library in its NumPy's own wheel does not know today's processors.
        ("theano-0.8.2", "openblas"),
        ("theano-1.0.5", "openblas"),
    ],
)
def test_numpy_alone(prefix: Prefix, tmp_path: Path, framework: str, flavour: str) -> None:
    place, report = prefix(framework, flavour), tmp_path / "report.json"
    [numpy] = place.glob("lib/python*/site-packages/numpy")
    for path in (numpy, *numpy.parent.glob("numpy.libs")):
        (tmp_path / path.name).symlink_to(path)
    # Without `site`, the environment's other packages are not there.
    done = run(place, "-S", SUITE, "--json", report, PYTHONPATH=str(tmp_path))
    assert "Traceback" not in done.stderr
    content = json.loads(report.read_text())
    jsonschema.validate(content, json.loads((SUITE / "report.schema.json").read_text()))
    checks = {check["name"]: check for check in content["checks"]}
    assert (done.returncode, content["framework"]["module"]) == (0, "numpy"), content
    assert checks["serving library"]["detail"].startswith("openblas ")
    assert {"threads", "kernels", "Gemm float64 speed", "Gemm float32 speed"} < set(checks)
    assert {"import", "peak float64, 1 thread"} < {item["name"] for item in content["timings"]}


def test_kept_modules_that_are_damaged_are_compiled_again(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("aesara-2.8.7", "openblas")
    words = (SUITE, "--expect", place / EXPECTATION)
    assert run(place, *words, cwd=tmp_path).returncode == 0
    kept = Path(json.loads((place / EXPECTATION).read_text())["verified"])
    libraries = sorted(kept.rglob("*.so"))
    assert any((path.parent / "key.pkl").is_file() for path in libraries)
    for path in libraries:
        os.truncate(path, 5000)
    done = run(place, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert sorted(kept.rglob("*.so"))
    assert not [path for path in kept.rglob("*.so") if path.stat().st_size == 5000]


def test_an_interrupt_ends_it_without_a_traceback(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "pip-openblas")
    # Only a terminal is told which check is running.
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [place / "bin/python", SUITE],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    )
    os.close(terminal)
    output = b""
    while b"checking settings" not in output:
        output += os.read(screen, 1024)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):
        while more := os.read(screen, 1024):
            output += more
    os.close(screen)
    assert process.wait(timeout=60) == 130
    assert re.search(rb"\r\033\[Kinterrupted, while [^\r\n]+\r\n$", output)
    assert b"Traceback" not in output
    assert not list(tmp_path.iterdir())


def test_the_program_for_processors_on_which_glibc_frees_the_registers(
    prefix: Prefix, tmp_path: Path
) -> None:
    output = printed(
        prefix("theano-1.0.5", "openblas"),
        *(SUITE, "probe", "elementwise.registers:examined", "theano", tmp_path),
        GLIBC_TUNABLES="glibc.cpu.hwcaps=Prefer_No_VZEROUPPER",
        THEANO_FLAGS=f"gcc.cxxflags=-mno-vzeroupper,base_compiledir={tmp_path}/compiled",
    )
    found = json.loads(output.rpartition("verify-result ")[2])
    assert found["count"] == 18 and "sqr" in found["unclean"]
