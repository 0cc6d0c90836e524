from __future__ import annotations

import threading

import pytest

from stacks.sources.parallel import parallel_map


def test_results_come_in_the_order_of_the_items() -> None:
    last = threading.Event()

    def work(item: int) -> int:
        if item == 3:
            last.set()
        assert item or last.wait(60)
        return item * 10

    assert parallel_map(work, [0, 1, 2, 3], threading.Event(), threads=2) == [0, 10, 20, 30]
    assert parallel_map(work, [], threading.Event()) == []


def test_the_first_failure_stops_the_rest() -> None:
    stop, done = threading.Event(), []

    def work(item: int) -> None:
        done.append(item)
        if item == 1:
            raise ValueError("item 1")

    with pytest.raises(ValueError, match="item 1"):
        parallel_map(work, range(100), stop, threads=1)
    assert stop.is_set() and done == [0, 1]
