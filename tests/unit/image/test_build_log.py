from __future__ import annotations

import pytest

from stacks.image.build_log import BuildLog

OLDER_BUILDER = """\
Sending build context to Docker daemon  395.4MB
Step 1/12 : ARG BASE=theano-stacks-base:fef8ec9ee684
Step 2/12 : FROM ${BASE}
 ---> 3a92342d75dd
Step 3/12 : ARG BASE
 ---> Using cache
 ---> 0742be6e898c
Step 4/12 : ADD packages.tar /
 ---> 440c39d36ce0
Step 5/12 : ADD blas.tar /
"""
BUILDKIT = """\
#1 [internal] load build definition from Dockerfile
#1 transferring dockerfile: 1.78kB done
#4 [1/5] FROM docker.io/library/theano-stacks-base:fef8ec9ee684
#6 [2/5] ADD packages.tar /
#6 DONE 3.2s
#7 [3/5] ADD blas.tar /
"""
PODMAN = """\
STEP 1/11: FROM theano-stacks-base:7c8fcdfb94d0
STEP 2/11: ARG BASE
--> Using cache 0742be6e898cdfb94d007c8f0742be6e898cdfb94d007c8f0742be6e898cdfb9
--> 0742be6e898
STEP 3/11: ADD packages.tar /
--> 440c39d36ce
STEP 4/11: ADD blas.tar /
"""


@pytest.mark.parametrize(
    ("output", "message", "images", "new"),
    [
        (
            OLDER_BUILDER,
            ["4/12   ADD packages.tar /", "5/12   ADD blas.tar /"],
            ["3a92342d75dd", "0742be6e898c", "440c39d36ce0"],
            ["440c39d36ce0"],
        ),
        (BUILDKIT, ["2/5    ADD packages.tar /", "3/5    ADD blas.tar /"], [], []),
        (
            PODMAN,
            ["3/11   ADD packages.tar /", "4/11   ADD blas.tar /"],
            ["0742be6e898", "440c39d36ce"],
            ["440c39d36ce"],
        ),
    ],
)
def test_the_steps_of_each_builder(
    output: str,
    message: list[str],
    images: list[str],
    new: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = BuildLog()
    for line in output.splitlines():
        progress.add(line)
    assert [line.strip() for line in capsys.readouterr().err.splitlines()][-2:] == message
    assert (progress.images, progress.new) == (images, new)
    assert progress.in_step
