"""Files by a pattern, below a folder whose name may have any letter."""

from __future__ import absolute_import, division, print_function

import glob
import os
import re


def matching(folder, pattern):
    """Return the paths below a folder that fit a pattern such as `*/*.so`, sorted.

    In the folder's own name `[` stands for itself. Python 2 has no glob.escape.
    """
    escaped = re.sub(r"([*?[])", r"[\1]", folder)
    return sorted(glob.glob(os.path.join(escaped, pattern)))
