"""Replace a text that occurs once in a file."""

from __future__ import annotations

from pathlib import Path

from stacks.core.errors import IntegrityError


def replace_once(path: Path, old: str, new: str, fix: str) -> None:
    """Replace a text in a file; raise IntegrityError with `fix` unless it occurs exactly once."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise IntegrityError(
            f"{path.name} is not the file that the recipe was written for",
            expected=f"once the text {old.strip().splitlines()[0]!r}",
            found=f"{text.count(old)} times",
            fix=fix,
        )
    path.write_text(text.replace(old, new), encoding="utf-8")
