"""What is refused before the site is made, and the faults of its pages."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.project import site


def test_faults_have_the_pages_own_paths() -> None:
    source = Path("/tmp/scratch/source")
    warnings = (
        "/tmp/scratch/source/guides/a.md:7: WARNING: image file not readable: guides/no.png\n"
        "WARNING: something else\n"
    )
    assert site.faults_of(warnings, source, {"guides/a.md": "docs/guides/a.md"}) == [
        "docs/guides/a.md:7: WARNING: image file not readable: guides/no.png",
        "WARNING: something else",
    ]


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match=r"is not a site that this command wrote\n.*--to DIR"):
        site.build(Workspace(tmp_path, tmp_path), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} cannot be served"):
            site.serve(tmp_path, port)
