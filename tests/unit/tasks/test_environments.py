from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from invoke.exceptions import Exit

from stacks.core.errors import UsageError
from stacks.environments import build, verify
from stacks.image import docker
from stacks.tasks import environments


@pytest.mark.parametrize("other", [{"repair": True}, {"to": "docker"}, {"cluster": "local"}])
def test_a_clean_build_is_of_one_environment(
    other: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Exit) as ended:
        environments.build.body(None, variant="openblas", clean=True, **other)
    assert ended.value.code == UsageError.exit_code
    assert "error: --clean makes one environment again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, "./invoke run --variant openblas --framework theano-1.0.5 -- python train.py"),
        ({"to": "docker"}, 'docker run --rm -v "$PWD:/work" theano-openblas:1 python train.py'),
    ],
)
def test_a_build_ends_with_the_command_to_run(
    options: dict[str, Any],
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(build, "make_environment", lambda *given, **options: Path("/prefix"))
    monkeypatch.setattr(verify, "verify_variant", lambda *given, **options: print("the table"))
    monkeypatch.setattr(docker, "build", lambda *given, **options: "theano-openblas:1")
    environments.build.body(None, variant="openblas", **options)
    assert capsys.readouterr().out.splitlines()[-1] == f"next: {command}"
