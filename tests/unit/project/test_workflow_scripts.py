"""The shell scripts of the workflows, run with programs that only note what they are asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stacks.project import checks
from stacks.variants.load import all_variants, load_variant
from unit.helpers.checkout import CHECKOUT
from unit.helpers.runner import Runner

VARIANTS = "variants.yml"
REPORT = "pinned files\nan answer with ``` and @someone\n"


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


@pytest.mark.parametrize(("status", "passes"), [(0, True), (4, True), (1, False), (2, False)])
def test_sources_at_one_place_are_no_failure_of_the_job(
    runner: Runner, status: int, passes: bool
) -> None:
    runner.invoke(f"echo report\nexit {status}")
    done = runner.run("alive.yml", "ask", "Ask")
    assert (done.returncode == 0) is passes
    assert runner.outputs == [f"status={status}"]
    assert (runner.folder / "build" / "sources.txt").read_text() == "report\n"


@pytest.mark.parametrize(
    ("status", "has_issues", "search", "last"),
    [
        ("4", "true", "", "POST repos/me/fork/issues -f title=T -F body=@body.md"),
        ("4", "true", "echo 17; echo 18", "PATCH repos/me/fork/issues/17 -F body=@body.md"),
        ("0", "true", "echo 17", "PATCH repos/me/fork/issues/17 -f state=closed"),
        ("0", "true", "", ""),
        ("4", "false", "", ""),
        # A failed search opens no second issue.
        ("4", "true", "exit 1", ""),
    ],
)
def test_an_issue_is_opened_updated_or_closed(
    runner: Runner, status: str, has_issues: str, search: str, last: str
) -> None:
    (runner.folder / "sources.txt").write_text(REPORT)
    script = f'case "$*" in *.has_issues) echo {has_issues};; *select*) {search or ":"};; esac'
    runner.program("gh", script)
    variables = {"STATUS": status, "TITLE": "T", "GITHUB_REPOSITORY": "me/fork"}
    done = runner.run("alive.yml", "issue", "Open, update or close the issue", **variables)
    assert done.returncode == ("exit" in search)
    assert ("::notice::This repository has no issues." in done.stdout) is (has_issues == "false")
    if last:
        assert runner.calls[-1] == f"gh api --method {last}"
    else:
        assert not any("--method" in call for call in runner.calls)
    if "body.md" in last:
        body = (runner.folder / "body.md").read_text().split("\n\n", 1)[1]
        assert body == "".join(f"    {line}\n" for line in REPORT.splitlines()), "plain text"


def push(runner: Runner, copy: str, fork: str) -> subprocess.CompletedProcess[str]:
    runner.program("docker", "cat > /dev/null")
    runner.program("skopeo", f'[ "$1" = inspect ] && {{ echo sha256:1; exit; }}\n{copy}')
    (runner.folder / "sbom.json").write_text("{}")
    return runner.run(
        "release.yml",
        "image",
        "Push by digest",
        REGISTRY="host/Owner",
        IMAGE="theano-mkl",
        IMAGE_USER="me",
        IMAGE_TOKEN="t",
        FRAMEWORK="theano-1.0.5",
        FLAVOUR="mkl",
        TAGS="1.0.5 latest",
        FORK=fork,
    )


def test_an_image_is_pushed_to_the_owners_folder_in_lower_case(runner: Runner) -> None:
    assert push(runner, "exit 0", "false").returncode == 0
    assert runner.outputs == ["name=host/owner/theano-mkl", "digest=sha256:1"]
    pushed = runner.folder / "pushed" / "theano-1.0.5-mkl.txt"
    assert pushed.read_text() == "theano-mkl 1.0.5 sha256:1\ntheano-mkl latest sha256:1\n"


@pytest.mark.parametrize(
    ("message", "fork", "passes"),
    [
        ("denied: permission_denied", "true", True),
        ("denied: permission_denied", "false", False),
        ("connection reset", "true", False),
    ],
)
def test_only_a_fork_may_lack_the_right_to_push(
    runner: Runner, message: str, fork: str, passes: bool
) -> None:
    done = push(runner, f"echo '{message}' >&2; exit 1", fork)
    assert (done.returncode == 0) is passes
    assert message in done.stderr
    assert ("::notice::Not pushed" in done.stdout) is passes
    assert runner.outputs == []


@pytest.mark.parametrize("pushed", ["theano-mkl latest sha256:1\n", ""])
def test_images_get_their_tags(runner: Runner, pushed: str) -> None:
    if pushed:
        (runner.folder / "pushed").mkdir()
        (runner.folder / "pushed" / "a.txt").write_text(pushed)
    runner.program("skopeo", "true")
    variables = {"REGISTRY": "host/Owner", "IMAGE_USER": "me", "IMAGE_TOKEN": "t"}
    done = runner.run("release.yml", "tags", "Give the images their tags", **variables)
    assert done.returncode == 0
    image = "docker://host/owner/theano-mkl"
    if pushed:
        assert f"skopeo copy --preserve-digests {image}@sha256:1 {image}:latest" in runner.calls
    else:
        assert "::notice::No image was pushed" in done.stdout
        assert runner.calls == [] and not (runner.folder / "images.txt").exists()


@pytest.mark.parametrize(
    ("tag", "images", "exists"),
    [
        ("v1", ["pushed/a.sbom.json", "images.txt"], True),
        ("v1", ["pushed/a.sbom.json", "images.txt"], False),
        ("v1.0.0rc1", [], False),
        ("v1.0.0", [], False),
    ],
)
def test_a_release_is_made_or_found(
    runner: Runner, tag: str, images: list[str], exists: bool
) -> None:
    for name in ("files/SHA256SUMS", *images):
        (runner.folder / name).parent.mkdir(exist_ok=True)
        (runner.folder / name).write_text("{}")
    runner.program("gh", f'[ "$2" = create ] && exit {int(exists)}; exit 0')
    variables = {"GITHUB_REF_NAME": tag, "GITHUB_REPOSITORY": "me/it"}
    done = runner.run("release.yml", "tags", "Make the release", **variables)
    assert done.returncode == 0
    words = " ".join(["files/SHA256SUMS", *images])
    assert runner.calls[-1] == f"gh release upload {tag} --repo me/it --clobber {words}"
    [create] = [call for call in runner.calls if " create " in call]
    assert create.endswith(f"--notes-file files/NOTES.md{' --prerelease' * ('rc' in tag)}")


@pytest.mark.parametrize("same", [True, False])
def test_the_files_of_a_release_are_made_twice(runner: Runner, same: bool) -> None:
    runner.invoke(f'mkdir -p "$3" && echo {"same" if same else "$3"} >"$3/SHA256SUMS"')
    done = runner.run(
        "release.yml", "files", "Write the files of the release", GITHUB_REF_NAME="v1"
    )
    assert (done.returncode == 0) is same
    assert runner.calls[0] == "invoke release --to build/release --tag v1"


@pytest.mark.parametrize("key", ["", "text"])
def test_the_channel_is_signed_if_there_is_a_key(runner: Runner, key: str) -> None:
    (runner.folder / "build/published").mkdir(parents=True)
    (runner.folder / "build/published/index.sha256").write_text("digest  noarch/a.conda\n")
    runner.invoke("")
    done = runner.run("channel.yml", "publish", "Write the static channel", CHANNEL_KEY=key)
    assert done.returncode == 0, done.stderr
    write, check = runner.calls
    signing = " --key env:CHANNEL_KEY" if key else " "
    assert write.rstrip() == f"invoke publish-channel --to build/published{signing}".rstrip()
    assert check == "invoke publish-channel --to build/published --check"
    listed, index = (runner.folder / "build/subjects.sha256").read_text().splitlines()
    assert listed == "digest  noarch/a.conda"
    assert index.endswith("  index.sha256") and len(index) == 64 + len("  index.sha256")


DENIED = "error: https://r.example/v2/me/: the registry answered 403 to POST"


@pytest.mark.parametrize(
    ("fork", "message", "passes"),
    [
        ("true", "", True),
        ("true", DENIED, True),
        ("false", DENIED, False),
        ("true", "error: r.example cannot be reached: Connection refused", False),
    ],
)
def test_a_channel_that_a_forks_token_may_not_push_is_a_notice(
    runner: Runner, fork: str, message: str, passes: bool
) -> None:
    runner.program("docker", "cat > token")
    runner.invoke(f"echo '{message}' >&2\nexit {1 if message else 0}")
    variables = {"IMAGE_USER": "me", "IMAGE_TOKEN": "t0ken", "CHANNEL_KEY": ""}
    done = runner.run(
        "channel.yml",
        "publish",
        "Push it to the registry",
        REGISTRY="R.example/Me",
        FORK=fork,
        **variables,
    )
    assert (done.returncode == 0) is passes
    assert ("::notice::Not pushed" in done.stdout) is (passes and bool(message))
    assert message in done.stderr
    login, push = runner.calls
    assert login == "docker login --username me --password-stdin r.example"
    assert (runner.folder / "token").read_text() == "t0ken"
    assert push.rstrip() == "invoke publish-channel --to oci://r.example/me/theano-stacks"


@pytest.mark.parametrize("exists", [True, False])
def test_the_release_of_the_channel_gets_what_it_lacks_and_then_the_list(
    runner: Runner, exists: bool
) -> None:
    published = runner.folder / "published"
    files = {
        "linux-64/there-1-0.conda": "same",
        "linux-64/cut-1-0.conda": "longer than what is there",
        "linux-64/repodata.json": "{}",
        "noarch/new-1-0.conda": "new",
        "sources/a.dsc": "source",
        "index.sha256": "list",
        "index.sha256.sig": "signature",
    }
    for name, text in files.items():
        (published / name).parent.mkdir(parents=True, exist_ok=True)
        (published / name).write_text(text)
    there = r"4 there-1-0.conda\n4 cut-1-0.conda\n4 index.sha256\n" if exists else ""
    viewed = f"*' view '*) exit {0 if exists else 1}"
    runner.program("gh", f"case \"$*\" in *--json*) printf '{there}' ;; {viewed} ;; esac")
    done = runner.run(
        "channel.yml",
        "release",
        "Add to the release what it lacks",
        GITHUB_REPOSITORY="me/stacks",
        GITHUB_SHA="abc",
    )
    assert done.returncode == 0, done.stderr
    made = [call for call in runner.calls if call.startswith("gh release create channel")]
    assert len(made) == (0 if exists else 1)
    start = "gh release upload channel --repo me/stacks --clobber "
    sent = [call.removeprefix(start) for call in runner.calls if call.startswith(start)]
    assert sent == [
        "published/linux-64/cut-1-0.conda",
        *([] if exists else ["published/linux-64/there-1-0.conda"]),
        "published/noarch/new-1-0.conda",
        "published/sources/a.dsc",
        "published/index.sha256 published/index.sha256.sig",
    ]


def test_a_failed_upload_leaves_the_list_as_it_was(runner: Runner) -> None:
    for name in ("linux-64/a.conda", "linux-64/b.conda", "index.sha256"):
        path = runner.folder / "published" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    runner.program("gh", 'case "$*" in *b.conda) exit 1;; esac')
    variables = {"GITHUB_REPOSITORY": "me/it", "GITHUB_SHA": "1"}
    done = runner.run("channel.yml", "release", "Add to the release what it lacks", **variables)
    assert done.returncode == 1
    assert not any("index.sha256" in call for call in runner.calls)


@pytest.mark.parametrize(
    ("event", "words"), [("push", ""), ("schedule", ""), ("pull_request", " --changed HEAD^1")]
)
def test_a_pull_request_gets_the_jobs_that_it_concerns(
    runner: Runner, event: str, words: str
) -> None:
    runner.invoke("""echo '{"include": []}'""")
    done = runner.run(VARIANTS, "plan", "Choose the variants", EVENT=event)
    assert done.returncode == 0, done.stderr
    assert [call.rstrip() for call in runner.calls] == [f"invoke matrix{words}"]
    assert runner.outputs == ['matrix={"include": []}']
    runner.invoke("exit 2")
    assert runner.run(VARIANTS, "plan", "Choose the variants", EVENT=event).returncode == 2
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
    runner.invoke(f"exit {status}")
    variables = {"FLAVOUR": "mkl", "FRAMEWORK": "theano-1.0.5", "DEVICE": device}
    assert (runner.run(VARIANTS, "variant", step, **variables).returncode == 0) is passes
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
    return runner.run(VARIANTS, "variant", TIME, GITHUB_STEP_SUMMARY=summary, **given).returncode


def test_a_timing_that_fails_fails_the_job_and_the_baseline_is_timed_alone(runner: Runner) -> None:
    runner.invoke("echo a table; exit $STATUS")
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
    runner.invoke("echo a table")
    summary = runner.folder / "summary"
    done = runner.run(
        VARIANTS,
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
        VARIANTS,
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
