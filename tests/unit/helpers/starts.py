"""Starts of a Python in an environment, which tests put together."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from stacks.environments import settings
from stacks.variants.variant import Variant

PACKAGES = [{"name": "python", "version": "3.9.2", "sha256": "0" * 64, "manager": "conda"}]


def variables_after(
    variant: Variant, prefix: Path, file: str, before: str, environ: dict[str, str], venv: str = ""
) -> dict[str, str]:
    """Return the variables that a Python has once it ran a file of site-packages.

    before: code that stands for the system. venv: the virtual environment on top, whose Python it
    is.
    """
    if not (prefix / settings.FOLDER).is_dir():
        settings.write(variant, prefix, prefix, list(PACKAGES))
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
