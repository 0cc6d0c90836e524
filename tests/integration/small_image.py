"""An image that is made in a second: a file, and an entry program in place of the suite.

small_image.py ROOT PLAY    builds it in a process of its own
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from integration.workspaces import workspace_below
from stacks.core.disk import REPOSITORY
from stacks.core.errors import StacksError
from stacks.core.paths import cache_root
from stacks.core.workspace import Workspace
from stacks.image import docker, layout
from stacks.image.layout import Layers
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

NAME = "theano-small-test"
NAMES = (f"{NAME}:1.0.5", f"{NAME}:latest")
Build = Callable[..., None]
# verify --json
ENTRY = """\
#!/bin/sh
echo '{report}'
echo verifying >&2
{play}
"""
PASSES, FAILS = "exit 0", "exit 1"
REPORTS = {
    status: json.dumps({"ok": ok, "checks": [{"status": "pass" if ok else "fail"}]})
    for status, ok in ((PASSES, True), (FAILS, False))
}
WAITS = "until [ -e /tmp/go ]; do sleep 0.1; done"


def variant(workspace: Workspace) -> Variant:
    """Return a variant whose image has a name that no real one has."""
    return load_variant(workspace, "openblas").model_copy(update={"name": "small-test"})


def write(root: Path, play: str) -> Layers:
    """Write the content of the image, where it is not there yet."""
    if made := layout.read(root):
        return made
    folders = {name: root / name for name in layout.NAMES}
    for name, folder in folders.items():
        file = folder / "opt/theano/share" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name}\n" * 1000)
    (folders["packages"] / "opt/theano/share/link").symlink_to("packages")
    settings = folders["settings"]
    entry = settings / "usr/local/bin/theano-stacks"
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text(ENTRY.format(play=play, report=REPORTS.get(play, REPORTS[PASSES])))
    entry.chmod(0o755)
    for path in (layout.SBOM, layout.SBOM_WITHOUT_BASE):
        (settings / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (settings / path[1:]).write_text("{}")
    for place, mode in (("tmp", 0o1777), ("work", 0o775)):
        (settings / place).mkdir()
        (settings / place).chmod(mode)
    return layout.seal(root, play)


def start(root: Path, play: str) -> subprocess.Popen[str]:
    """Build the image in a process of its own."""
    return subprocess.Popen(
        [sys.executable, __file__, root, play],
        env={**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'tests'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(line: str, process: subprocess.Popen[str]) -> bool:
    """Read a process's standard error up to a line that begins so; return whether it came."""
    assert process.stderr
    return any(text.startswith(line) for text in process.stderr)


def main(root: str, play: str) -> int:
    workspace = workspace_below(Path(root) / "checkout", cache_root())
    patch = setattr
    made = write(Path(root) / "content", play)
    patch(layout, "lay_out", lambda *_: made)
    try:
        docker.build(workspace, variant(workspace))
    except StacksError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
