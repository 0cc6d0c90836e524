"""The scripts of the workflow that builds, times and publishes all variants."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.project import checks
from stacks.variants.load import all_variants, load_variant
from unit.helpers.checkout import CHECKOUT
from unit.helpers.runner import Runner

WORKFLOW = "variants.yml"


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def invoke(runner: Runner, script: str) -> None:
    """Put a `./invoke` of the test into the checkout, which notes what it is asked."""
    runner.program("invoke", script)
    (runner.folder / "invoke").symlink_to("bin/invoke")


@pytest.mark.parametrize(
    ("event", "words"), [("push", ""), ("schedule", ""), ("pull_request", " --changed HEAD^1")]
)
def test_a_pull_request_gets_the_jobs_that_it_concerns(
    runner: Runner, event: str, words: str
) -> None:
    invoke(runner, """echo '{"include": []}'""")
    done = runner.run(WORKFLOW, "plan", "Choose the variants", EVENT=event)
    assert done.returncode == 0, done.stderr
    assert [call.rstrip() for call in runner.calls] == [f"invoke matrix{words}"]
    assert runner.outputs == ['matrix={"include": []}']
    runner.program("invoke", "exit 2")
    assert runner.run(WORKFLOW, "plan", "Choose the variants", EVENT=event).returncode == 2
    assert len(runner.outputs) == 1, "no jobs without a matrix"


@pytest.mark.parametrize(
    ("step", "device", "status", "passes"),
    [
        ("Build and verify", "cpu", 0, True),
        ("Build and verify", "cpu", 1, False),
        ("Build and verify", "cpu", 3, False),
        ("Build and verify", "cuda", 3, True),
        ("Build and verify", "cuda", 1, False),
        ("Build its image and verify it in a container", "cpu", 0, True),
        ("Build its image and verify it in a container", "cpu", 3, False),
        ("Build its image and verify it in a container", "cuda", 3, True),
    ],
)
def test_only_a_missing_device_is_no_failure(
    runner: Runner, step: str, device: str, status: int, passes: bool
) -> None:
    invoke(runner, f"exit {status}")
    variables = {"FLAVOUR": "mkl", "FRAMEWORK": "theano-1.0.5", "DEVICE": device}
    assert (runner.run(WORKFLOW, "variant", step, **variables).returncode == 0) is passes
    [call] = runner.calls
    assert call.startswith("invoke build --variant mkl --framework theano-1.0.5 --")


TIME = "Time it in its image, turn by turn with the baseline's"


def time(runner: Runner, **variables: str) -> int:
    (runner.folder / "build").mkdir(exist_ok=True)
    job = checks.matrix(CHECKOUT, all_variants(CHECKOUT), [load_variant(CHECKOUT, "mkl")])[
        "include"
    ][0]
    given = {name.upper(): value for name, value in job.items()} | variables
    summary = str(runner.folder / "summary")
    return runner.run(WORKFLOW, "variant", TIME, GITHUB_STEP_SUMMARY=summary, **given).returncode


def test_a_timing_that_fails_fails_the_job_and_the_baseline_is_timed_alone(runner: Runner) -> None:
    invoke(runner, "echo a table; exit $STATUS")
    assert time(runner, STATUS="0") == 0
    assert runner.calls == [
        "invoke bench --images theano-pip-default:1.0.5,theano-mkl:1.0.5 --quick"
    ]
    assert (runner.folder / "summary").read_text() == "```\na table\n```\n"
    assert time(runner, STATUS="1") == 1
    assert time(runner, STATUS="0", FLAVOUR="pip-default") == 0
    assert runner.calls[-1] == "invoke bench --images theano-pip-default:1.0.5 --quick"


def test_the_results_of_all_machines_are_laid_side_by_side(runner: Runner) -> None:
    for job, machine in (("report-a", "epyc"), ("report-b", "xeon"), ("report-c", "epyc")):
        folder = runner.folder / "reports" / job / "results" / machine
        folder.mkdir(parents=True)
        (folder / f"{job}.json").write_text("{}")
    invoke(runner, "echo a table")
    summary = runner.folder / "summary"
    done = runner.run(
        WORKFLOW,
        "table",
        "Lay the results of all machines side by side",
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert done.returncode == 0, done.stderr
    found = sorted(str(p.relative_to(runner.folder)) for p in runner.folder.glob("results/*/*"))
    assert found == [
        "results/epyc/report-a.json",
        "results/epyc/report-c.json",
        "results/xeon/report-b.json",
    ]


@pytest.mark.parametrize(
    ("answer", "branch", "source"),
    [
        ("echo workflow", "main", "workflow"),
        ("echo legacy", "main", "legacy"),
        ("echo '{}'; exit 1", "main", "none"),
        ("echo workflow", "topic", "none"),
    ],
)
def test_the_page_is_published_where_the_repository_has_pages(
    runner: Runner, answer: str, branch: str, source: str
) -> None:
    runner.program("gh", answer)
    done = runner.run(
        WORKFLOW,
        "table",
        "Ask whether this repository has pages that workflows publish",
        GITHUB_REPOSITORY="me/fork",
        GITHUB_REF=f"refs/heads/{branch}",
        BRANCH="main",
    )
    assert done.returncode == 0, done.stderr
    assert runner.outputs == [f"source={source}"]
    assert runner.calls == ["gh api repos/me/fork/pages --jq .build_type"]
    assert ("::notice::" in done.stdout) is (source != "workflow")
