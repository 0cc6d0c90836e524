"""README's first command on a machine that knows no mirror of Debian's archive and has no gpg."""

import json
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from integration.bare_machine import copy_checkout, run_in_root, unpack_root
from stacks.sources.debian_mirrors import WHEEL_FILE

# What Debian's tools know of its archive and its keys, and what other places of a mirror are.
REMOVED = (
    *("etc/apt", "var/lib/apt", "usr/bin/apt-get", "usr/bin/gpgv", "usr/share/keyrings"),
    *("usr/share/debootstrap", "usr/share/python-apt"),
)
HOME, PERSON = "home/new", "1000:1000"


@dataclass(frozen=True)
class BareMachine:
    """A root folder, in which a person without any right has a copy of this checkout."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / HOME

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command as the person, in the checkout."""
        return run_in_root(self.root, f"cd /{HOME}/theano-stacks && {command}", PERSON, HOME)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> BareMachine:
    machine = BareMachine(unpack_root(tmp_path_factory.mktemp("bare")))
    for name in REMOVED:
        path = machine.root / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    copy_checkout(machine.home / "theano-stacks")
    subprocess.run(["chown", "-R", PERSON, machine.home], check=True)
    return machine


def test_the_first_command_of_the_readme_makes_a_verified_environment(machine: BareMachine) -> None:
    assert not [name for name in REMOVED if (machine.root / name).exists()]
    done = machine.run("./invoke build --variant pip-openblas")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"pip-openblas on theano-1\.0\.5: \d+ checks passed", done.stdout)
    assert "the addresses of Debian's archive: the wheel debops" in done.stderr
    assert "warning" not in done.stderr.lower()
    reports = machine.home / "theano-stacks" / "build" / "reports"
    [report] = [json.loads(path.read_text()) for path in reports.rglob("*.json")]
    assert report["ok"]
    assert "fail" not in {check["status"] for check in report["checks"]}
    cached = {path.name for path in (machine.home / ".cache" / "theano-stacks").rglob("*.whl")}
    assert WHEEL_FILE in cached
    # The second time all is in place, and no address is needed.
    again = machine.run("./invoke run --variant pip-openblas -- python -c 'import theano'")
    assert again.returncode == 0, again.stderr


PIN = """\
from stacks.core.workspace import default_workspace
from stacks.sources.debian_archive import DebRequest
from stacks.sources.repin import repin
print(repin(default_workspace(), [DebRequest("bookworm", "hostname")], []).debs[0].path)
"""


def test_a_suite_is_pinned_by_its_signature_without_gpg(machine: BareMachine) -> None:
    tools = "./invoke --list >/dev/null"
    done = machine.run(f"{tools} && PYTHONPATH=. .venv/bin/python -c {shlex.quote(PIN)}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pool/main/h/hostname/hostname_")
