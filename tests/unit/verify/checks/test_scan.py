"""The check of scan in a process of its own; the check itself runs in real environments."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unit.helpers.suite import suite_module

scan = suite_module("checks.scan")
Context = suite_module("context").Context


@pytest.fixture
def context(tmp_path: Path) -> Any:
    """Give a context with a compile folder that has one module."""
    (tmp_path / "compiled/one").mkdir(parents=True)
    framework = SimpleNamespace(
        name="theano", flag={"base_compiledir": str(tmp_path / "compiled")}.get
    )
    return Context(framework, None, str(tmp_path), "cxx=")


def result(context: Any, monkeypatch: pytest.MonkeyPatch, script: str, limit: int = 60) -> Any:
    """Return the check where the process runs a script of the shell in place of the suite."""
    commands = []

    def command(*words: str) -> list[str]:
        commands.append(words)
        return ["sh", "-c", script]

    monkeypatch.setattr(scan.process, "suite_command", command)
    monkeypatch.setattr(scan, "LONGEST", limit)
    check = scan.start(context)()
    assert commands == [("scan-probe", "theano", f"{context.folder}/scan", "cxx=")]
    return check


def test_the_result_of_the_other_process(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    script = """echo noise; echo '["scan in C", "pass", "50 steps", null]'; echo more"""
    check = result(context, monkeypatch, script)
    assert check[:4] == ("scan in C", "pass", "50 steps", None)
    assert (Path(context.folder) / "scan/one").is_dir(), "it begins with what is compiled"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo cannot find -lm; echo 'collect2: error: ld returned 1'; exit 1", "cannot find -lm"),
        ("exit 1", "it printed nothing"),
        ("exec tail -f /dev/null", "it did not end within 1 s"),
    ],
)
def test_a_process_without_a_result_fails_the_check(
    context: Any, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    check = result(context, monkeypatch, script, 1 if "tail" in script else 60)
    assert check.status == "fail"
    assert check.detail == f"its process failed: {reason}"
    assert check.fix.endswith('/verify scan-probe theano "$(mktemp -d)" cxx=')
