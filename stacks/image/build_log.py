"""The output of an engine that builds an image, in the forms of several builders."""

from __future__ import annotations

import re
import sys
import textwrap

# A line that begins a step: of docker's older builder and podman, and of BuildKit.
STEP = re.compile(r"(?:step (\d+/\d+) ?: ?|#\d+ \[(\d+/\d+)\] )(.+)", re.IGNORECASE)
# The image of a step, new or from the cache: of docker's older builder and podman.
IMAGE = re.compile(r" ?--+> ([0-9a-f]{11,})")
CACHED = re.compile(r" ?--+> using cache", re.IGNORECASE)


class BuildLog:
    """Prints the steps of a build, and collects the images of its steps, if the builder has any."""

    def __init__(self) -> None:
        self.images: list[str] = []
        self.new: list[str] = []
        self.cached = self.in_step = False

    def add(self, line: str) -> None:
        """Read a line of the builder's output."""
        begun, image = STEP.match(line), IMAGE.match(line)
        if begun:
            number, instruction = begun[1] or begun[2], begun[3]
            instruction = textwrap.shorten(instruction, 62, placeholder=" ...")
            print(f"    {number:<7}{instruction}", file=sys.stderr, flush=True)
            self.cached, self.in_step = (instruction.startswith(w) for w in ("FROM", "ADD"))
        elif CACHED.match(line):
            self.cached = True
        elif image:
            self.images.append(image[1])
            self.new += [] if self.cached else [image[1]]
            self.in_step = False
