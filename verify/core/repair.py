"""How to put back the files of an environment that the builder has made."""

from __future__ import absolute_import, division, print_function

import os

from verify.core import process

# The command that does it, from the builder, which knows by what name a person started it.
VARIABLE = "THEANO_STACKS_REPAIR"
OF_IMAGE = "start a new container from the image, by its digest"


def fix(expectation):
    """Return how to put an environment's files back: a line, and the command.

    expectation: the builder's, or None if it is damaged.
    """
    words = command(expectation)
    return words if words == OF_IMAGE else "put the files back:\n" + words


def command(expectation):
    """Return the command of `fix`; of an image, which has none, what to do."""
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE]
    home = os.path.dirname(process.SUITE)
    if os.path.exists(os.path.join(home, "invoke")):
        program = "./invoke"
    elif os.path.isdir(os.path.join(home, "stacks")):
        program = "theano-stacks"
    else:
        return OF_IMAGE
    names = (
        (expectation["variant"], expectation["framework"]) if expectation else ("NAME", "FRAMEWORK")
    )
    return "%s build --variant %s --framework %s --repair" % ((program,) + names)
