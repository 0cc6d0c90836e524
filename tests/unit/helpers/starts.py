"""Starts of a Python in an environment, which tests put together."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from stacks.channel.settings_files import FOLDER, PLACEHOLDER, files_of
from stacks.variants.variant import Variant

PACKAGES = [{"name": "python", "version": "3.9.2", "sha256": "0" * 64, "manager": "conda"}]


def install_settings(variant: Variant, prefix: Path) -> None:
    """Write a variant's settings as a conda client does."""
    for name, text in files_of(variant).items():
        path = prefix / re.sub(
            "^site-packages", f"lib/python{variant.framework.python}/site-packages", name
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(PLACEHOLDER, str(prefix)), encoding="utf-8")


def variables_after(
    variant: Variant, prefix: Path, file: str, before: str, environ: dict[str, str], venv: str = ""
) -> dict[str, str]:
    """Return the variables that a Python has once it ran a file of site-packages.

    before: code that stands for the system. venv: the virtual environment on top, whose Python it
    is.
    """
    if not (prefix / FOLDER).is_dir():
        install_settings(variant, prefix)
    folder = prefix / f"lib/python{variant.framework.python}/site-packages"
    code = (
        f"import io, json, os, sys; sys.base_prefix = {str(prefix)!r}; "
        f"sys.prefix = {venv or str(prefix)!r}; sys.path.append({str(folder)!r})\n"
        f"own = {{}}\n{before}\n"
        f"exec(open({str(folder / file)!r}).read(), own)\n"
        "print(json.dumps(dict(os.environ)))"
    )
    output = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], env=environ)
    found: dict[str, str] = json.loads(output)
    return found
