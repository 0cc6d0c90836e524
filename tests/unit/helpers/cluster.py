from __future__ import annotations

from stacks.cluster.messages import Order

ORDER = Order(commit="c" * 40, files={"a": "1"}, machine="", variants=("theano-1.0.5/mkl",))
