"""What a workload hands over to be compiled and timed."""

from __future__ import absolute_import, division, print_function

import collections

# output: what a call returns, the sign that two environments compute the same; updates: what it
# changes; shape: the sizes, for the report; flops: floating-point operations of a call, or None.
Model = collections.namedtuple("Model", "name output updates shape flops")
Model.__new__.__defaults__ = (None,)
