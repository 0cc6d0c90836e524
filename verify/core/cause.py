"""What a Cause is."""

from __future__ import absolute_import, division, print_function

import collections

# what: the cause in a few words; fix: what to do.
Cause = collections.namedtuple("Cause", "what fix")
