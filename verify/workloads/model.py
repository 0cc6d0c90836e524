"""The case of a workload, before it is compiled."""

from __future__ import absolute_import, division, print_function

import collections

# output: symbolic scalar, for a comparison of environments, or None; updates: of shared variables;
# shape: {name: size}, for the report; flops: floating-point operations of a call, or None;
# slow: the name of the case that computes the same the slow way, or None; excluding: names of
# optimisations that it is compiled without; allow_gc: whether its function frees results early.
Model = collections.namedtuple("Model", "name output updates shape flops slow excluding allow_gc")
Model.__new__.__defaults__ = (None, None, (), True)
