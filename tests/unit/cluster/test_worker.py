from __future__ import annotations

from stacks.cluster import worker as cluster_worker


def test_nothing_of_dasks_own_settings_reaches_what_is_timed() -> None:
    dasks = {"OMP_NUM_THREADS": "1", "MALLOC_TRIM_THRESHOLD_": "65536", "PYTHONHASHSEED": "6640"}
    own = {"PATH": "/bin", "MKL_NUM_THREADS": "4"}
    assert cluster_worker.clean_environment({**dasks, **own, "PYTHONPATH": "/checkout"}) == own
