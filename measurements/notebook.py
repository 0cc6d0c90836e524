"""Runs a notebook's code cells as one program, and marks each call of what Theano compiled.

    python measurements/notebook.py NOTEBOOK [--marks]

A notebook has no marks of its own, and its kernel no command line. This has the same cells in the
same order, without Jupyter, and matplotlib draws to nowhere.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main() -> None:
    """Run the cells; with --marks, print the line of `./invoke bench` after each call."""
    os.environ["MPLBACKEND"] = "agg"
    cells = json.loads(Path(sys.argv[1]).read_bytes())["cells"]
    if "--marks" in sys.argv:
        import theano  # type: ignore[import-not-found]

        theano.function = marked(theano.function)
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)


def marked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return theano.function whose results print a mark after each call."""

    def compiled(*arguments: Any, **options: Any) -> Callable[..., Any]:
        called = function(*arguments, **options)

        def call(*values: Any) -> Any:
            result = called(*values)
            print("THEANO_STACKS_STEP")
            return result

        return call

    return compiled


if __name__ == "__main__":
    main()
