from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from invoke.exceptions import Exit

from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.care import clean, verify
from stacks.environments.folders import READY, folder_of
from stacks.environments.make import build, prefix, ready
from stacks.image import docker
from stacks.locks import lock
from stacks.tasks import environments
from stacks.variants.load import load_variant

# The solver, the stages of packages, conda's models, the network, tables with colours.
HEAVY = {
    "conda_lock",
    "elftools",
    "requests",
    "rattler",
    "rattler_build",
    "rich",
    "stacks.channel.offers",
    "stacks.locks.solution",
    "urllib3",
}
# Run a command line of a checkout whose keys are known and whose environments pass; print the names
# of the loaded modules.
LOADED = """\
import json, sys
sys.path.insert(0, {repository!r})
from pathlib import Path
from stacks.core import workspace
workspace.default_workspace = lambda: workspace.Workspace(Path({root!r}), Path({root!r}, "cache"))
from stacks.environments.care import verify
verify.verify_variant = lambda *given, **options: None
from stacks.tasks.program import Program
words = ["./invoke", "--search-root", {repository!r}, *sys.argv[1:]]
sys.argv[1:] = words[3:]
Program(name="theano-stacks", binary="./invoke").run(words, exit=False)
print(json.dumps(list(sys.modules)))
"""


@pytest.mark.parametrize("other", [{"repair": True}, {"to": "docker"}, {"cluster": "local"}])
def test_a_clean_build_is_of_one_environment(
    other: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exit) as ended:
        environments.build.body(None, variant="openblas", clean=True, **other)
    assert ended.value.code == UsageError.exit_code
    assert "error: --clean makes one environment again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "removed"),
    [
        ({"variant": "openblas"}, ["theano-1.0.5/openblas"]),
        ({"variant": "theano-0.8.2/openblas"}, ["theano-0.8.2/openblas"]),
        ({"variant": "openblas", "framework": "aesara"}, ["aesara-2.8.7/openblas"]),
        ({}, None),
    ],
)
def test_clean_of_a_variant_leaves_other_frameworks_alone(
    words: dict[str, Any], removed: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str] | None] = []
    monkeypatch.setattr(
        clean,
        "clean",
        lambda workspace, variants, cache: given.append(variants and [v.id for v in variants]),
    )
    environments.clean.body(None, **words)
    assert given == [removed]


def test_clean_of_a_framework_without_a_variant(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Exit):
        environments.clean.body(None, framework="theano-0.8.2")
    assert "error: --framework without --variant" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, "./invoke run --variant openblas -- python train.py"),
        ({"to": "docker"}, 'docker run --rm -v "$PWD:/work" theano-openblas:1 python train.py'),
    ],
)
def test_a_build_ends_with_the_command_to_run(
    options: dict[str, Any],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(ready, "built_environment", lambda *given: None)
    monkeypatch.setattr(build, "make_environment", lambda *given, **options: Path("/prefix"))
    monkeypatch.setattr(verify, "verify_variant", lambda *given, **options: print("the table"))
    monkeypatch.setattr(docker, "build", lambda *given, **options: "theano-openblas:1")
    environments.build.body(None, variant="openblas", **options)
    assert capsys.readouterr().out.splitlines()[-1] == f"next: {command}"


@pytest.mark.parametrize("words", [["--help"], ["list"], ["build", "--variant", "openblas"]])
def test_a_task_with_nothing_to_make_loads_no_code_that_makes_it(
    words: list[str], own_workspace: Workspace
) -> None:
    variant = load_variant(own_workspace, "openblas")
    target = folder_of(own_workspace, variant)
    text = prefix.marker(own_workspace, variant, lock.read(own_workspace, variant), target, {})
    (target / READY).parent.mkdir(parents=True)
    (target / READY).write_text(text)
    program = LOADED.format(repository=str(REPOSITORY), root=str(own_workspace.root))
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("build", {"variant": "mkl", "channel": "https://x.test/c", "to": "oci"},
         "an image's name cannot have the `@`"),
        ("build", {"variant": "mkl", "to": "oci", "json": "r.json"}, "--to oci writes an image"),
        ("build", {"variant": "mkl", "to": "oci", "full": True}, "--to oci writes an image and"),
        ("verify", {"python": "python3", "framework": "theano"}, "--python has the framework"),
    ],
)  # fmt: skip
def test_options_that_would_be_ignored(
    task: str, options: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exit) as ended:
        getattr(environments, task).body(None, **options)
    assert ended.value.code == UsageError.exit_code
    assert f"error: {message}" in capsys.readouterr().err
