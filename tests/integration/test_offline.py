"""A machine without any network: README's command, from a vendored folder, tools included."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from unit.helpers.serving import serving

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.project import vendor
from stacks.sources.vendored import VARIABLE
from stacks.variants.variant import load_variant

MAKE = """
from stacks.core.workspace import default_workspace
from stacks.environments.build import make_environment
from stacks.variants.variant import load_variant
if __name__ == "__main__":
    workspace = default_workspace()
    make_environment(workspace, load_variant(workspace, "pip-openblas"))
"""


@pytest.fixture(scope="module")
def isolated() -> list[str]:
    """Give the command that runs a program in a network namespace without interfaces."""
    command = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("no network namespace can be made here (unshare --net)")
    return command


@pytest.fixture(scope="module")
def carried(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a vendored folder for one variant."""
    folder = tmp_path_factory.mktemp("vendored") / "carried"
    vendor.vendor(workspace, [load_variant(workspace, "pip-openblas")], folder)
    return folder


def copy_of_checkout(target: Path) -> Path:
    listed = subprocess.run(
        ["git", "-C", REPOSITORY, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (REPOSITORY / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, target / name)
    return target


def test_an_environment_without_any_network(
    isolated: list[str], carried: Path, tmp_path: Path
) -> None:
    checkout = copy_of_checkout(tmp_path / "checkout")
    variables = {
        "HOME": str(tmp_path / "home"),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHON": os.path.realpath(shutil.which("python3") or "python3"),
        "PYTHONPATH": ".",
        VARIABLE: str(carried),
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*isolated, *words],
            cwd=checkout,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    with serving() as site:
        reached = run("python3", "-c", f"from urllib.request import *; urlopen('{site.url}/x')")
    assert reached.returncode and not site.paths()
    tools = run("./invoke", "--list")
    assert tools.returncode == 0, tools.stderr
    # As `./invoke build` does, whose verification knows no network.
    made = run(".venv/bin/python", "-c", MAKE)
    assert made.returncode == 0, made.stderr
    assert "  channel  0 packages built, " in made.stderr
    assert f" fetched from {carried}/channel, 0 from the cache" in made.stderr
    assert "warning" not in made.stderr.lower()
    words = ["--variant", "pip-openblas", "--", "python", "-c", "import theano.tensor; print(1)"]
    used = run("./invoke", "run", *words)
    assert used.stdout == "1\n", used.stderr
    # Without the folder there is a clear error and no traceback.
    shutil.rmtree(tmp_path / "home")
    del variables[VARIABLE]
    failed = run("./invoke", "build", "--variant", "openblas")
    assert failed.returncode == 1
    assert "error: " in failed.stderr and "Traceback" not in failed.stderr
