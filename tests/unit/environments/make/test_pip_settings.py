from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.channel.settings_files import CONSTRAINTS
from stacks.environments.make import settings

SITE = "lib/python{}/site-packages"


def install(prefix: Path, python: str, name: str, version: str) -> None:
    folder = prefix / SITE.format(python) / f"{name.lower()}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def config(prefix: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    parser.read_string((prefix / "pip.conf").read_text())
    return parser


def test_the_constraints_are_the_installed_packages(tmp_path: Path) -> None:
    for name, version in (("pip", "26.0.1"), ("NumPy", "1.22.4")):
        install(tmp_path, "3.9", name, version)
    # Such a line would make pip refuse all others.
    install(tmp_path, "3.9", "unusual", "of today")
    (tmp_path / SITE.format("3.9") / "empty-1.0.dist-info").mkdir()
    # As setuptools' older releases write it.
    old = "Metadata-Version: 1.0\nName: six\nVersion: 1.16.0\n"
    (tmp_path / SITE.format("3.9") / "six-1.16.0.egg-info").write_text(old)
    final = Path("/final place/100 %é")
    settings.write_pip_settings(tmp_path, final, "3.9")
    text = (tmp_path / CONSTRAINTS).read_text()
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        f"NumPy==1.22.4,{settings.HINT}",
        f"pip==26.0.1,{settings.HINT}",
        f"six==1.16.0,{settings.HINT}",
    ]
    # One word: pip splits the value of this setting.
    assert config(tmp_path)["install"]["constraint"] == (
        "file:///final%20place/100%20%25%C3%A9/etc/theano-stacks/constraints.txt"
    )


@pytest.mark.parametrize(
    ("python", "pip", "feature"),
    [
        ("2.7", "20.3.4", "2020-resolver"),
        ("3.9", "25.2", None),
        ("3.9", "25.3", "build-constraint"),
        ("3.9", "26.0.1", "build-constraint"),
    ],
)
def test_what_pip_needs_to_keep_to_them(
    python: str, pip: str, feature: str | None, tmp_path: Path
) -> None:
    install(tmp_path, python, "pip", pip)
    settings.write_pip_settings(tmp_path, tmp_path, python)
    assert config(tmp_path).get("global", "use-feature", fallback=None) == feature


def test_an_environment_without_pip_gets_nothing(tmp_path: Path) -> None:
    install(tmp_path, "3.9", "numpy", "1.22.4")
    settings.write_pip_settings(tmp_path, tmp_path, "3.9")
    assert [path.name for path in tmp_path.iterdir()] == ["lib"]


def test_a_packages_own_ensurepip_stays(tmp_path: Path) -> None:
    install(tmp_path, "3.9", "pip", "26.0.1")
    own = tmp_path / "lib/python3.9/ensurepip/__init__.py"
    own.parent.mkdir()
    own.write_text("own")
    settings.write_pip_settings(tmp_path, tmp_path, "3.9")
    assert own.read_text() == "own"
    assert [path.name for path in own.parent.iterdir()] == ["__init__.py"]


def test_a_virtual_environment_gets_the_pip_of_its_environment(tmp_path: Path) -> None:
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    prefix, venv = tmp_path / "an [environment]", tmp_path / "venv"
    site = SITE.format(python)
    install(prefix, python, "pip", "26.0.1")
    files = {"pip/__init__.py": "text é", "../../../bin/pip": "#!/bin/sh\n", "../../../share/x": ""}
    for name, text in files.items():
        path = prefix / site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o444)
    record = prefix / site / "pip-26.0.1.dist-info/RECORD"
    record.write_text("".join(f"{name},,\n" for name in files))
    settings.write_pip_settings(prefix, prefix, python)
    code = "import runpy, sys; sys.base_prefix, sys.prefix = sys.argv[1:]; runpy.run_path("
    code += f"sys.base_prefix + '/lib/python{python}/ensurepip/__main__.py', run_name='__main__')"
    subprocess.run([sys.executable, "-I", "-c", code, prefix, venv], check=True)
    assert (venv / site / "pip/__init__.py").read_text() == "text é"
    assert (venv / "bin/pip").stat().st_mode & 0o777 == 0o755
    assert not (venv / "share").exists()
    assert (venv / "pip.conf").read_text() == "[global]\nuse-feature = build-constraint\n"


def test_uv_gets_the_constraints_beside_the_users_own(tmp_path: Path) -> None:
    assert settings.for_uv(tmp_path, {}) == {}
    install(tmp_path, "3.9", "pip", "26.0.1")
    settings.write_pip_settings(tmp_path, tmp_path, "3.9")
    own = settings.url(tmp_path)
    assert settings.for_uv(tmp_path, {}) == {"UV_CONSTRAINT": own}
    given = {"UV_CONSTRAINT": f"mine.txt {settings.url(Path('/another'))}"}
    assert settings.for_uv(tmp_path, given) == {"UV_CONSTRAINT": f"mine.txt {own}"}
