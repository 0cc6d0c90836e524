"""The steps of workflows, run with programs that only note what they are asked."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stacks.core.disk import REPOSITORY

WORKFLOWS = REPOSITORY / ".github/workflows"


def step(workflow: str, job: str, name: str) -> dict[str, Any]:
    jobs = yaml.safe_load((WORKFLOWS / workflow).read_text())["jobs"]
    (found,) = [each for each in jobs[job]["steps"] if each.get("name") == name]
    return dict(found)


@dataclass(frozen=True)
class Runner:
    """A folder to run in, and the programs that a runner of the service has."""

    folder: Path

    def program(self, name: str, script: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> {self.folder}/calls\n{script}\n')
        path.chmod(0o755)

    def invoke(self, script: str) -> None:
        """Put a `./invoke` into the checkout that notes what it is asked, then runs a script."""
        self.program("invoke", script)
        (self.folder / "invoke").unlink(missing_ok=True)
        (self.folder / "invoke").symlink_to("bin/invoke")

    def run(
        self, workflow: str, job: str, name: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        script = step(workflow, job, name)["run"]
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return subprocess.run(
            # As the service starts it.
            ["bash", "-e", "-c", script],
            cwd=self.folder,
            env={"PATH": path, "GITHUB_OUTPUT": str(self.folder / "outputs")} | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        calls = self.folder / "calls"
        return calls.read_text().splitlines() if calls.exists() else []

    @property
    def outputs(self) -> list[str]:
        outputs = self.folder / "outputs"
        return outputs.read_text().splitlines() if outputs.exists() else []
