"""The image of openblas on Theano 1.0.5 in an engine, as people use it."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from integration.engines import Running
from integration.programs import called
from stacks.core.workspace import Workspace
from stacks.image import engine as engines
from stacks.image.engine import Engine
from stacks.variants.load import load_variant

NAME = "theano-openblas:1.0.5"
CONFINED = ("--read-only", "--cap-drop", "ALL", "--tmpfs", "/tmp:rw,exec")
FIRST_STEPS = """
import getpass, os
import numpy, theano, theano.tensor as T
for dtype in ("float32", "float64"):
    a, b = T.matrix(dtype=dtype), T.matrix(dtype=dtype)
    x = numpy.ones((3, 3), dtype)
    total = theano.shared(x)
    f = theano.function([a, b], [], updates=[(total, total + T.dot(a, b))])
    f(x, x)
    assert (total.get_value() == 4).all()
    assert [type(n.op).__name__ for n in f.maker.fgraph.toposort()] == ["Gemm"]
print(getpass.getuser(), os.getcwd())
"""
SOMETHING_NEW = """
import theano, theano.tensor as T
v = T.vector()
theano.function([v], T.erfinv(v) + T.sinh(v))
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def image(workspace: Workspace, running_engine: Running) -> str:
    """Give the name of the image, built, checked and verified."""
    variant = load_variant(workspace, "openblas", "theano-1.0.5")
    with pytest.MonkeyPatch.context() as patch:
        if running_engine.host:
            patch.setenv("DOCKER_HOST", running_engine.host)
        engines.build(workspace, variant)
    report = json.loads(engines.report_path(workspace, variant).read_bytes())
    assert report["ok"] and report["variant"] == "openblas"
    assert re.fullmatch(r"[\d,]+ as installed", files_of(report)["detail"])
    return NAME


@pytest.fixture
def run(image: str, engine: Engine) -> Run:
    """Give the function that runs a command in the image, under options of the engine's."""
    command = ("docker", "run", "--rm")

    def run(*words: str, options: tuple[str, ...] = (), text: str = "") -> Any:
        return called([*command, *options, image, *words], input=text)

    return run


def files_of(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report's check of the environment's files."""
    [check] = [check for check in report["checks"] if check["name"] == "files"]
    return cast("dict[str, Any]", check)


def test_verify_as_another_user_without_capabilities(run: Run) -> None:
    done = run("verify", options=(*CONFINED, "--user", "12345:0"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks passed" in done.stdout.splitlines()[0]


def test_what_changes_in_a_container_is_named(run: Run) -> None:
    change = """
    cd /opt/theano
    mode=$(stat -c %a share/theano-stacks/sbom.cdx.json)
    sed -i s/libc6/libc7/ share/theano-stacks/sbom.cdx.json
    chmod "$mode" share/theano-stacks/sbom.cdx.json
    chmod 777 share/theano-stacks/verify/table.py
    ln -sf libz.so.2 lib/libopenblas.so.0
    rm etc/theanorc
    touch lib/python3.9/site-packages/extra.py
    exec theano-stacks verify --json
    """
    done = run("sh", "-c", change, options=("--user", "0"))
    assert done.returncode == 1, done.stderr
    check = files_of(json.loads(done.stdout))
    assert check["status"] == "fail"
    first, *lines = check["detail"].splitlines()
    assert first == "5 differences from what was installed"
    for path, problem in {
        "etc/theanorc": "missing",
        "lib/libopenblas.so.0": "changed: a link to libz.so.2",
        "lib/python3.9/site-packages/extra.py": "extra",
        "share/theano-stacks/sbom.cdx.json": "changed: SHA-256",
        "share/theano-stacks/verify/table.py": "changed: mode 777",
    }.items():
        assert any(line.startswith(f"{path}: {problem}") for line in lines), check["detail"]
    assert check["fix"] == "start a new container from the image, by its digest"


def test_workloads_print_tables_or_the_report_alone(run: Run) -> None:
    words = ("check_blas", "--case", "2000", "--calls", "1", "--profile-calls", "1")
    tables = run(*words, options=CONFINED)
    assert tables.returncode == 0, tables.stderr
    assert "GFLOP/s" in tables.stdout and "Gemm" in tables.stdout
    report = json.loads(run("profile", *words, "--json", options=CONFINED).stdout)
    assert report["workload"] == "check_blas" and report["variant"] == "openblas"
    assert [case["name"] for case in report["cases"]] == ["2000"]


@pytest.mark.parametrize("user", ["", "4321:4321"])
def test_a_first_program_compiles_nothing(run: Run, tmp_path: Path, user: str) -> None:
    (tmp_path / "train.py").write_text(FIRST_STEPS)
    (tmp_path / "new.py").write_text(SOMETHING_NEW)
    tmp_path.chmod(0o755)
    calls = tmp_path / "calls"
    calls.touch()
    calls.chmod(0o666)
    # The compiler as it is, and before its work it says how it was called.
    begin, _, rest = run("cat", "/opt/theano/bin/g++").stdout.partition("\n")
    (tmp_path / "g++").write_text(f'{begin}\necho "$*" >>/calls\n{rest}')
    (tmp_path / "g++").chmod(0o755)
    options = (
        *CONFINED, *(["--user", user] if user else []), "-v", f"{tmp_path}:/work:ro",
        "-v", f"{calls}:/calls", "-v", f"{tmp_path}/g++:/opt/theano/bin/g++:ro",
    )  # fmt: skip
    done = run("python", "train.py", options=options)
    assert (done.stdout, done.stderr, done.returncode) == ("theano /work\n", "", 0)
    assert "-shared" not in calls.read_text()
    assert run("python", "new.py", options=options).returncode == 0
    assert calls.read_text().count("-shared") == 1


def test_words_that_start_no_program_of_ours(run: Run) -> None:
    done = run()
    assert done.returncode == 0
    assert "docker run --rm theano-openblas verify" in done.stdout
    # No program gets another user's rights; where all may write, each removes their own files only.
    open_to_all = r"\( -type f -perm /6000 -o ! -type l -perm -2 ! -perm -1000 \) -print"
    done = run("sh", "-c", f"id -u; find / -xdev -path /root -prune -o {open_to_all}")
    assert (done.stdout, done.stderr, done.returncode) == ("10001\n", "", 0)
    done = run("shell", options=("-i",), text="which python g++\nexit 3\n")
    assert done.returncode == 3
    assert done.stdout.splitlines()[-2:] == ["/opt/theano/bin/python", "/opt/theano/bin/g++"]
    assert "(openblas) /work $ " in done.stderr
    for words, status, text in (
        (("no-such-program",), 127, "no-such-program"),
        (("profile", "no-such-workload"), 2, "ntm"),
    ):
        done = run(*words)
        assert done.returncode == status and text in done.stderr
        assert "Traceback" not in done.stderr
    done = run("python", "-c", "pass", options=("--read-only", "--tmpfs", "/tmp"))
    assert "/tmp/theano-10001: it does not allow execution (noexec)" in done.stderr
    assert "--tmpfs /tmp:rw,exec" in done.stderr
