from __future__ import annotations

import re

from stacks.core.disk import REPOSITORY


def test_every_test_that_the_docs_name_exists() -> None:
    text = (REPOSITORY / "docs/promises.md").read_text()
    sources = {path: path.read_text() for path in (REPOSITORY / "tests").rglob("test_*.py")}
    files = re.findall(r"`([\w/]*test_\w+\.py)", text)
    assert len(files) > 20
    for name in files:
        assert any(str(path).endswith(f"/{name}") for path in sources), name
    for name in re.findall(r"::(test_\w+)`", text):
        assert any(f"def {name}(" in source for source in sources.values()), name
