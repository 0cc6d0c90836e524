from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.locks import requirements, uv
from stacks.locks.requirements import Distribution
from stacks.sources.mirrors import PipSettings
from stacks.sources.pins import IndexPin, Pins
from stacks.sources.repin import FileRequest
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

LOCK = """\
lock-version = "1.0"
[[packages]]
name = "numpy"
version = "1.21.6"
sdist = { url = "https://host/numpy-1.21.6.zip" }
[[packages]]
name = "a"
version = "1.0"
sdist = { url = "https://host/a-1.0.tar.gz", hashes = { sha256 = "1" } }
wheels = [
    { url = "https://host/a-1.0-py3-none-any.whl", hashes = { sha256 = "2" } },
    { url = "https://host/a-1.0-cp39-cp39-manylinux_2_17_x86_64.whl", hashes = { sha256 = "3" } },
    { url = "https://host/a-1.0-cp39-cp39-manylinux_2_34_x86_64.whl", hashes = { sha256 = "4" } },
]
[[packages]]
name = "b"
version = "2.0"
sdist = { url = "https://host/b-2.0.tar.gz", hashes = { sha256 = "5" } }
wheels = [{ url = "https://host/b-2.0-cp310-cp310-manylinux_2_17_x86_64.whl" }]
"""


@pytest.fixture
def variant(workspace: Workspace, tmp_path: Path) -> Variant:
    return load_variant(workspace, "openblas").model_copy(
        update={"file": tmp_path / "stack.yaml", "requests": ("a", "b")}
    )


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give the SHA-256 of the index's files by name; uv's answer is LOCK."""
    digests = {"a-1.0-cp39-cp39-manylinux_2_17_x86_64.whl": "3", "b-2.0.tar.gz": "5"}

    def pin_files(
        workspace: Workspace, requests: list[FileRequest], stop: object
    ) -> tuple[IndexPin, ...]:
        return tuple(
            IndexPin(
                name=r.name,
                version=r.version,
                filename=r.filename,
                size=1,
                sha256=digests[r.filename],
            )
            for r in requests
        )

    base = (Distribution("numpy", "1.21.6", ("six>1", "mock; extra == 'test'")),)
    monkeypatch.setattr(requirements, "pin_files", pin_files)
    monkeypatch.setattr(requirements, "installed", lambda *_: base)
    monkeypatch.setattr(uv, "unpack", lambda *_: Path("/uv"))
    return digests


def answer(text: str, messages: str = "") -> Any:
    def compile_lock(
        workspace: Workspace, program: Path, folder: Path, output: str, *options: Any
    ) -> str:
        (folder / output).write_text(text)
        return messages

    return compile_lock


def test_what_is_installed_here() -> None:
    version = f"3.{sys.version_info[1]}"
    found = {d.name: d for d in requirements.installed(Path(sys.executable), version)}
    assert found["pydantic"].version and "pydantic-core" in " ".join(found["pydantic"].requires)
    assert list(found) == sorted(found)


def test_the_best_file_of_each_package_that_is_not_installed(
    variant: Variant, workspace: Workspace, index: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uv, "compile_lock", answer(LOCK))
    pins, text = requirements.resolve(workspace, variant, Path("/python"), Pins())
    assert [(pin.name, pin.filename) for pin in pins] == [
        ("a", "a-1.0-cp39-cp39-manylinux_2_17_x86_64.whl"),
        ("b", "b-2.0.tar.gz"),
    ]
    assert text == LOCK


def test_what_uv_is_asked(
    variant: Variant, workspace: Workspace, index: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, str] = {}

    def compile_lock(
        workspace: Workspace, program: Path, folder: Path, output: str, options: Any, limit: Any
    ) -> str:
        asked.update({path.name: path.read_text() for path in folder.iterdir()})
        asked["options"] = " ".join(map(str, options))
        (folder / output).write_text("packages = []\n")
        return ""

    monkeypatch.setattr(uv, "compile_lock", compile_lock)
    former = IndexPin(name="a", version="0.9", filename="a-0.9.zip", size=1, sha256="0" * 64)
    assert requirements.resolve(workspace, variant, Path("/python"), Pins(), [former])[0] == ()
    assert asked == {
        "pylock.toml": 'lock-version = "1.0"\ncreated-by = "theano-stacks"\n[[packages]]\n'
        'name = "a"\nversion = "0.9"\n',
        "requests.in": "a\nb\n",
        "constraints.txt": "numpy==1.21.6\n",
        "uv.toml": '[[dependency-metadata]]\nname = "numpy"\nversion = "1.21.6"\n'
        'requires-dist = ["six>1", "mock; extra == \'test\'"]\nprovides-extra = ["test"]\n',
        "options": "--python /python --python-platform x86_64-manylinux_2_31",
    }


def test_other_bytes_than_the_index_said(
    variant: Variant, workspace: Workspace, index: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uv, "compile_lock", answer(LOCK))
    index["b-2.0.tar.gz"] = "9"
    with pytest.raises(IntegrityError, match=r"b-2\.0\.tar\.gz has other bytes"):
        requirements.resolve(workspace, variant, Path("/python"), Pins())


@pytest.mark.parametrize("fits", [(), ("theano-pymc-1.1.2",)])
def test_a_conflict_names_the_framework_that_fits(
    fits: tuple[str, ...],
    variant: Variant,
    workspace: Workspace,
    index: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def compile_lock(
        workspace: Workspace, program: Path, folder: Path, output: str, options: Any, limit: Any
    ) -> None:
        constraints = (folder / "constraints.txt").read_text()
        tried.append(constraints)
        if not fits or "theano-pymc" not in constraints:
            raise CommandError("uv\na depends on scipy<1.8", found="exit status 1")
        (folder / output).write_text("packages = []\n")

    monkeypatch.setattr(uv, "compile_lock", compile_lock)
    with pytest.raises(UsageError) as caught:
        requirements.resolve(workspace, variant, Path("/python"), Pins())
    message = str(caught.value)
    assert "its packages do not fit theano-1.0.5 on Python 3.9" in message
    assert "found:    a depends on scipy<1.8" in message
    expected = f"change `framework:` to {fits[0]}" if fits else "no other framework fits either"
    assert expected in message
    assert len(tried) > 2


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        (
            "error: Request failed after 3 retries in 5.8s\n  cause: Failed to fetch: http://x/six/",
            FetchError,
            "the package index cannot be read\n  found:    error: Request failed",
        ),
        (
            "  cause: Because nomic was not found in the package registry and you require nomic",
            UsageError,
            "no package index has nomic\n  fix:      check its spelling",
        ),
        # Of pip 20.
        (
            "WARNING: Retrying (Retry(total=4)) after connection broken by 'ProxyError'",
            FetchError,
            "the package index cannot be read",
        ),
        (
            "ERROR: Could not find a version that satisfies the requirement lasange==1 "
            "(from versions: none)",
            UsageError,
            "no package index has lasange\n",
        ),
    ],
)
def test_a_failure_of_the_index_is_no_conflict(
    said: str,
    error: type[Exception],
    message: str,
    variant: Variant,
    workspace: Workspace,
    index: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CommandError(f"uv\n{said}")

    monkeypatch.setattr(uv, "compile_lock", fail)
    with pytest.raises(error) as caught:
        requirements.resolve(workspace, variant, Path("/python"), Pins())
    assert message in str(caught.value)


def test_an_extra_that_a_package_does_not_have_is_named(
    variant: Variant,
    workspace: Workspace,
    index: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = "warning: The package `idna==3.4` does not have an extra named `al`\nResolved 1\n"
    monkeypatch.setattr(uv, "compile_lock", answer('lock-version = "1.0"\n', said))
    requirements.resolve(workspace, variant, Path("/python"), Pins())
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: ") and line.endswith(": idna 3.4 has no extra 'al'")
    uv.warn_of_extras("WARNING: idna 2.0 does not provide the extra 'al'\n", "stack.yaml")
    assert capsys.readouterr().err == "warning: stack.yaml: idna 2.0 has no extra 'al'\n"


def test_no_request_is_meant_for_this_python(
    variant: Variant, workspace: Workspace, index: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # uv leaves out the key `packages`.
    monkeypatch.setattr(uv, "compile_lock", answer('lock-version = "1.0"\n'))
    assert requirements.resolve(workspace, variant, Path("/python"), Pins())[0] == ()


@pytest.mark.parametrize("found", ["exit status 2", None])
def test_another_failure_of_uv_is_no_conflict(
    found: str | None,
    variant: Variant,
    workspace: Workspace,
    index: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CommandError("uv\nerror: No space left on device", found=found)

    monkeypatch.setattr(uv, "compile_lock", fail)
    with pytest.raises(CommandError, match="No space left"):
        requirements.resolve(workspace, variant, Path("/python"), Pins())


def test_pip_is_given_folders_of_packages_whose_path_has_a_blank(
    workspace: Workspace,
    index: dict[str, str],
    variant: Variant,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nmkdir files\nprintf %s "$PIP_FIND_LINKS" > {tmp_path}/given\n')
    python.chmod(0o755)
    settings = PipSettings(index_urls=(), find_links=("/my room/wheels", "https://x.test/wheels"))
    monkeypatch.setattr(requirements, "pip_settings", lambda: settings)
    framework = variant.framework.model_copy(update={"python": "2.7"})
    old = variant.model_copy(update={"framework": framework})
    assert requirements.resolve(workspace, old, python, Pins()) == ((), None)
    given = (tmp_path / "given").read_text()
    assert given == "file:///my%20room/wheels https://x.test/wheels"


@pytest.mark.parametrize("version", ["2.7", "3.9"])
def test_a_module_in_the_users_folder_is_not_taken_for_pythons(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "pkg_resources.py"):
        (tmp_path / name).write_text("raise SystemExit('mine')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(requirements, "LIST_PYTHON_2", "import json; print(json.dumps([]))")
    assert requirements.installed(Path(sys.executable), version) is not None
