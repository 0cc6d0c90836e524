"""The shell scripts of the workflows, run with programs that only note what they are asked."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.core.disk import REPOSITORY
from unit.helpers.environments import add

WORKFLOWS = REPOSITORY / ".github/workflows"


@dataclass(frozen=True)
class Case:
    """A step of a workflow and what it does.

    step: file, job and name. programs: {name: script}; `invoke` is that of the checkout. files,
    written: {path: text} before and after. calls: the command lines of all programs; None: any.
    notice: whether one is printed. ends: how the last call ends, without blanks.
    """

    step: tuple[str, str, str]
    programs: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    passes: bool = True
    calls: list[str] | None = None
    ends: str = ""
    outputs: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    notice: bool = False
    error: str = ""


def check(case: Case, folder: Path) -> None:
    """Run a step as the service does, and compare."""
    workflow, job, name = case.step
    content = yaml.safe_load((WORKFLOWS / workflow).read_text())
    steps = (content["jobs"][job] if job else content["runs"])["steps"]
    [script] = [each["run"] for each in steps if each.get("name", "") == name]
    programs = {
        f"bin/{program}": f'#!/bin/bash\necho "{program} $*" >> {folder}/calls\n{text}\n'
        for program, text in case.programs.items()
    }
    for path, text in {**case.files, **programs}.items():
        add(folder, path, text, 0o755)
    (folder / "invoke").symlink_to("bin/invoke")
    paths = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    paths |= {"GITHUB_OUTPUT": f"{folder}/outputs", "GITHUB_STEP_SUMMARY": f"{folder}/summary"}
    env, words = paths | case.variables, ["bash", "-e", "-c", script]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is case.passes, done.stderr
    assert ("::notice::" in done.stdout) is case.notice
    assert case.error in done.stderr
    calls, outputs = (
        path.read_text().splitlines() if path.exists() else []
        for path in (folder / "calls", folder / "outputs")
    )
    calls = [" ".join(line.split()) for line in calls]
    assert case.calls is None or calls == case.calls
    assert calls[-1].endswith(case.ends) if calls else not case.ends
    assert outputs == case.outputs
    for path, text in case.written.items():
        assert (folder / path).read_text() == text


ASK = ("alive.yml", "ask", "Ask")
ISSUE = ("alive.yml", "issue", "Open, update or close the issue")
REPORT = "pinned files\nan answer with ``` and @someone\n"


def issue(
    status: int, search: str, ends: str, *, passes: bool = True, notice: bool = False
) -> Case:
    has_issues = str(not notice).lower()
    script = f'case "$*" in *.has_issues) echo {has_issues};; *select*) {search or ":"};; esac'
    variables = {"STATUS": str(status), "TITLE": "T", "GITHUB_REPOSITORY": "me/fork"}
    files = {"sources.txt": REPORT}
    return Case(ISSUE, {"gh": script}, variables, files, passes, ends=ends, notice=notice)


SELECT = "--jq .[] | select(.title == env.TITLE) | .number"
ALIVE = [
    # Sources at one place are no failure of the job.
    *(
        Case(ASK, {"invoke": f"echo report\nexit {status}"}, passes=passes,
             outputs=[f"status={status}"], written={"build/sources.txt": "report\n"})
        for status, passes in ((0, True), (4, True), (1, False), (2, False))
    ),
    issue(4, "", "--method POST repos/me/fork/issues -f title=T -F body=@body.md"),
    issue(4, "echo 17; echo 18", "--method PATCH repos/me/fork/issues/17 -F body=@body.md"),
    issue(0, "echo 17", "--method PATCH repos/me/fork/issues/17 -f state=closed"),
    issue(0, "", SELECT),
    issue(4, "", "gh api repos/me/fork --jq .has_issues", notice=True),
    # A failed search opens no second issue.
    issue(4, "exit 1", SELECT, passes=False),
]  # fmt: skip

PUSH = ("release.yml", "image", "Push by digest")
TAGS = ("release.yml", "tags", "Give the images their tags")
REGISTRY = {"REGISTRY": "host/Owner", "IMAGE_USER": "me", "IMAGE_TOKEN": "t0ken"}


def push(copy: str, fork: bool, **options: Any) -> Case:
    programs = {
        "docker": "cat > token",
        "skopeo": f'[ "$1" = inspect ] && {{ echo sha256:1; exit; }}\n{copy}',
    }
    variables = {"IMAGE": "theano-mkl", "FRAMEWORK": "theano-1.0.5", "FLAVOUR": "mkl",
                 "TAGS": "1.0.5 latest", "FORK": str(fork).lower(), **REGISTRY}  # fmt: skip
    return Case(PUSH, programs, variables, {"sbom.json": "{}"}, **options)


MAKE = ("release.yml", "tags", "Make the release")


def made_release(tag: str, images: list[str], exists: bool) -> Case:
    files = dict.fromkeys(["files/SHA256SUMS", *images], "{}")
    upload = f"gh release upload {tag} --repo me/it --clobber {' '.join(files)}"
    script = f'[ "$2" = create ] && exit {int(exists)}; exit 0'
    variables = {"GITHUB_REF_NAME": tag, "GITHUB_REPOSITORY": "me/it"}
    return Case(MAKE, {"gh": script}, variables, files, ends=upload)


IMAGE = "docker://host/owner/theano-mkl"
RELEASE = [
    push("exit 0", False, outputs=["name=host/owner/theano-mkl", "digest=sha256:1"],
         written={"pushed/theano-1.0.5-mkl.txt":
                  "theano-mkl 1.0.5 sha256:1\ntheano-mkl latest sha256:1\n"}),
    # Only a fork may lack the right to push.
    push("echo denied: permission_denied >&2; exit 1", True, notice=True, error="denied"),
    push("echo denied: permission_denied >&2; exit 1", False, passes=False, error="denied"),
    push("echo connection reset >&2; exit 1", True, passes=False, error="reset"),
    # A candidate's images are not what a stable name stands for.
    *(
        Case(TAGS, {"skopeo": ""}, {**REGISTRY, "GITHUB_REF_NAME": name},
             {"pushed/a.txt": "theano-mkl 1 sha256:1\n"},
             calls=["skopeo login --username me --password-stdin host",
                    *(f"skopeo copy --preserve-digests {IMAGE}@sha256:1 {IMAGE}:{tag}"
                      for tag in tags), "skopeo logout host"])
        for name, tags in (("v1", ["1-v1", "1"]), ("v1rc1", ["1-v1rc1"]))
    ),
    Case(TAGS, {"skopeo": ""}, REGISTRY, calls=[], notice=True),
    made_release("v1", ["pushed/a.sbom.json", "images.txt"], True),
    made_release("v1", ["pushed/a.sbom.json", "images.txt"], False),
    made_release("v1.0.0rc1", [], False),
    # The files of a release are made twice.
    *(
        Case(("release.yml", "files", "Write the files of the release"),
             {"invoke": f'mkdir -p "$3" && echo {content} >"$3/SHA256SUMS"'},
             {"GITHUB_REF_NAME": "v1"}, passes=content == "same")
        for content in ("same", "$3")
    ),
]  # fmt: skip

WRITE = ("channel.yml", "publish", "Write the static channel")
SEND = ("channel.yml", "publish", "Push it to the registry")
ADD = ("channel.yml", "release", "Add to the release what it lacks")
DENIED = "error: https://r.example/v2/me/: the registry answered 403 to POST"
UPLOAD = "gh release upload channel --repo me/it --clobber"
FILES = {
    "published/linux-64/cut-1-0.conda": "longer than what is there",
    "published/linux-64/repodata.json": "{}",
    "published/linux-64/there-1-0.conda": "same",
    "published/noarch/new-1-0.conda": "new",
    "published/sources/a.dsc": "source",
    "published/index.sha256": "list",
    "published/index.sha256.sig": "signature",
}


def pushed_channel(fork: bool, message: str, passes: bool) -> Case:
    programs = {"docker": "cat > token", "invoke": f"echo '{message}' >&2; exit {bool(message):d}"}
    variables = {**REGISTRY, "REGISTRY": "R.example/Me", "FORK": str(fork).lower()}
    return Case(
        SEND, programs, {**variables, "CHANNEL_KEY": ""}, passes=passes,
        calls=["docker login --username me --password-stdin r.example",
               "invoke publish-channel --to oci://r.example/me/theano-stacks"],
        written={"token": "t0ken"}, notice=passes and bool(message), error=message,
    )  # fmt: skip


def added(answers: str, last: str, *, passes: bool = True) -> Case:
    script = f'case "$*" in {answers} esac'
    variables = {"GITHUB_REPOSITORY": "me/it", "GITHUB_SHA": "abc"}
    return Case(ADD, {"gh": script}, variables, FILES, passes, ends=f"{UPLOAD} {last}")


CHANNEL = [
    *(
        Case(WRITE, {"invoke": ""}, {"CHANNEL_KEY": key},
             {"build/published/index.sha256": "digest  noarch/a.conda\n"},
             calls=[f"invoke publish-channel --to build/published{signing}",
                    "invoke publish-channel --to build/published --check"])
        for key, signing in (("", ""), ("text", " --key env:CHANNEL_KEY"))
    ),
    pushed_channel(True, "", True),
    pushed_channel(True, DENIED, True),
    pushed_channel(False, DENIED, False),
    pushed_channel(True, "error: r.example cannot be reached: Connection refused", False),
]  # fmt: skip

# What other projects verify their Python with: its only step, without a name.
ACTIONS = [
    Case(("../../action.yml", "", ""),
         {"a python": f'printf "%s\\n" "$@" > words\nexit {status}'},
         {"GITHUB_ACTION_PATH": "/action", "VERIFIED_PYTHON": "a python",
          "VERIFY_JUNIT": "a b.xml"},
         passes=status == 0, written={"words": "/action/verify\n--junit\na b.xml\n"})
    for status in (0, 1)
]  # fmt: skip

VARIANTS = "variants.yml"
PLAN = (VARIANTS, "plan", "Choose the variants")
VARIANT = {"FLAVOUR": "mkl", "FRAMEWORK": "theano-1.0.5"}
TIME = (VARIANTS, "variant", "Time it, turn by turn with the baseline")
PAGES = (VARIANTS, "table", "Ask whether this repository has pages that workflows publish")
JOBS = [
    *(
        Case(PLAN, {"invoke": """echo '{"include": []}'"""}, {"EVENT": event},
             calls=[f"invoke matrix{words}"], outputs=['matrix={"include": []}'])
        for event, words in (("push", ""), ("pull_request", " --changed HEAD^1"))
    ),
    # No jobs without a matrix.
    Case(PLAN, {"invoke": "exit 2"}, {"EVENT": "push"}, passes=False),
    # Only a missing device is no failure.
    *(
        Case((VARIANTS, "variant", step), {"invoke": f"exit {status}"},
             {**VARIANT, "DEVICE": device}, passes=passes)
        for step in ("Build and verify", "Build its image and verify it in a container")
        for device, status, passes in (
            ("cpu", 0, True), ("cpu", 1, False), ("cpu", 3, False),
            ("cuda", 3, True), ("cuda", 1, False),
        )
    ),
    # A timing that fails fails the job.
    *(
        Case(TIME, {"invoke": f"echo a table; exit {status}"},
             {**VARIANT, "BASELINE": "pip-default"}, {"build/none": ""}, passes=status == 0,
             ends="invoke bench --variants pip-default,mkl --framework theano-1.0.5 "
             "--workload gemm,elementwise,check_blas --quick",
             written={"summary": "```\na table\n```\n"} if status == 0 else {})
        for status in (0, 1)
    ),
    *(
        Case(PAGES, {"gh": answer},
             {"GITHUB_REPOSITORY": "me/fork", "GITHUB_REF": f"refs/heads/{branch}",
              "BRANCH": "main"},
             calls=["gh api repos/me/fork/pages --jq .build_type"],
             outputs=[f"source={source}"], notice=source != "workflow")
        for answer, branch, source in (
            ("echo workflow", "main", "workflow"), ("echo legacy", "main", "legacy"),
            ("echo '{}'; exit 1", "main", "none"), ("echo workflow", "topic", "none"),
        )
    ),
]  # fmt: skip


ALL = [*ALIVE, *RELEASE, *CHANNEL, *ACTIONS, *JOBS]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.step[2])
def test_a_step(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_the_report_in_an_issue_is_plain_text(tmp_path: Path) -> None:
    check(issue(4, "", "-F body=@body.md"), tmp_path)
    body = (tmp_path / "body.md").read_text().split("\n\n", 1)[1]
    assert body == "".join(f"    {line}\n" for line in REPORT.splitlines())


@pytest.mark.parametrize("exists", [True, False])
def test_the_release_of_the_channel_gets_what_it_lacks_and_then_the_list(
    exists: bool, tmp_path: Path
) -> None:
    there = r"4 there-1-0.conda\n4 cut-1-0.conda\n4 index.sha256\n" if exists else ""
    script = f"*--json*) printf '{there}' ;; *' view '*) exit {int(not exists)} ;;"
    check(added(script, "published/index.sha256 published/index.sha256.sig"), tmp_path)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert sum(" create " in call for call in calls) == int(not exists)
    assert [call.removeprefix(f"{UPLOAD} ") for call in calls if call.startswith(UPLOAD)] == [
        "published/linux-64/cut-1-0.conda",
        *([] if exists else ["published/linux-64/there-1-0.conda"]),
        "published/noarch/new-1-0.conda",
        "published/sources/a.dsc",
        "published/index.sha256 published/index.sha256.sig",
    ]


def test_a_failed_upload_leaves_the_list_as_it_was(tmp_path: Path) -> None:
    check(added("*cut-*) exit 1 ;;", "published/linux-64/cut-1-0.conda", passes=False), tmp_path)
