"""`bench --images`, and CI's scripts that use it, by an engine and an image made in a second."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from unit.helpers.benching import result, run, subject
from unit.helpers.publishing import at, timings
from unit.helpers.runner import Runner

from integration import small_image
from integration.engines import state
from integration.small_image import NAMES, Build
from integration.workspaces import workspace_below
from stacks.bench import images, store
from stacks.bench.schedule import BenchOptions
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.image.engine import Engine
from stacks.timings import command

pytestmark = pytest.mark.usefixtures("tidied")

DIGEST = "sha256:" + "0" * 64
SUBJECT = subject("small-test").model_copy(update={"image": DIGEST})
RESULT = result(
    [run(SUBJECT, 9, 5.0, name="Gemm float64 2000")], SUBJECT
).model_dump_json(by_alias=True)  # fmt: skip
# What a real entry program does: run any program, verify, print a round's result with the digest.
ENTRY = f"""\
#!/bin/sh
case $1 in
    verify) echo '{{"ok": true, "checks": [{{"status": "pass"}}]}}'; exit 0 ;;
    bench)
        swaps="s/{DIGEST}/$THEANO_STACKS_IMAGE/; s/\\"round\\":9/\\"round\\":$4/"
        echo '{RESULT}' | sed "$swaps" ;;
    *) exec "$@" ;;
esac
"""
# `./invoke bench --images`, in the working folder in place of the checkout.
INVOKE = f"""\
import sys
from pathlib import Path
sys.path[:0] = [{str(REPOSITORY)!r}, {str(REPOSITORY / "tests")!r}]
from integration.workspaces import workspace_below
from stacks.bench import images
from stacks.bench.schedule import BenchOptions
bench, option, names, quick = sys.argv[1:]
assert (bench, option, quick) == ("bench", "--images", "--quick")
workspace = workspace_below(Path.cwd(), Path("cache"))
images.bench(workspace, names.split(","), BenchOptions(quick=True, workload="gemm"))
"""
QUICK = BenchOptions(quick=True, rounds=5, workload="gemm")


@pytest.fixture
def image(monkeypatch: pytest.MonkeyPatch, small: Build) -> str:
    """Give the name of an image whose entry program answers as a real one."""
    monkeypatch.setattr(small_image, "ENTRY", "{play}")
    small(ENTRY)
    return NAMES[0]


def test_an_image_is_timed_and_no_container_is_left(
    image: str, engine: Engine, tmp_path: Path
) -> None:
    before = state(engine)
    workspace = workspace_below(tmp_path / "mine", tmp_path / "cache")
    images.bench(workspace, [image], QUICK)
    (stored,) = store.read_all(workspace)[0]
    assert [one.image for one in stored.result.subjects] == [engine.image_id(image)]
    assert [one.round for one in stored.result.runs] == [1, 2, 3, 4, 5]
    assert state(engine) == before


def test_an_image_that_does_not_verify_is_not_timed(
    small: Build, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_image, "ENTRY", "{play}")
    # It passes when it is built, which asks for the report, and not later.
    small(ENTRY.replace("exit 0 ;;", "exit $(($# < 2)) ;;"))
    before = state(engine)
    with pytest.raises(UsageError, match=f"{NAMES[0]} does not pass its verification"):
        images.timed(engine, [NAMES[0]], QUICK)
    assert state(engine) == before


def test_the_scripts_of_ci_time_it_and_publish_the_result(
    image: str, engine: Engine, tmp_path: Path
) -> None:
    runner = Runner(tmp_path / "runner")
    (runner.folder / "build").mkdir(parents=True)
    (runner.folder / "time.py").write_text(INVOKE)
    runner.program("invoke", f'exec {sys.executable} time.py "$@"')
    (runner.folder / "invoke").symlink_to("bin/invoke")
    variables = {
        name: os.environ[name] for name in ("DOCKER_HOST", "HOME") if name in os.environ
    } | {"GITHUB_STEP_SUMMARY": str(runner.folder / "summary")}
    step = "Time it in its image, turn by turn with the baseline's"
    flavours = {"FLAVOUR": "small-test", "BASELINE": "small-test", "BASELINE_IMAGE": image}
    timed = runner.run("variants.yml", "variant", step, **variables, **flavours)
    assert timed.returncode == 0, timed.stderr
    assert "Gemm float64 2000" in (runner.folder / "summary").read_text()
    # Another machine: what the job of each variant has uploaded.
    (runner.folder / "reports/report-a").mkdir(parents=True)
    (runner.folder / "results").rename(runner.folder / "reports/report-a/results")
    runner.program("invoke", "")
    step = "Lay the results of all machines side by side"
    laid = runner.run("variants.yml", "table", step, **variables)
    assert laid.returncode == 0, laid.stderr
    (runner.folder / "envs").unlink()
    command.publish(at(runner.folder))
    digest = str(engine.image_id(image)).removeprefix("sha256:")[:12]
    assert f"theano-1.0.5/small-test (image {digest})" in timings(runner.folder)
