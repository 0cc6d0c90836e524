"""Reports of workloads as text; the profile's form is tested with ./invoke profile."""

from unit.helpers.profiles import case, profile, report, tables
from unit.helpers.suite import suite_module

table = suite_module("workloads.table")


def test_a_report_without_a_profile() -> None:
    content = report(case(None, seconds=0.002))
    content["cases"][0].update(flops=4e6)
    lines = table.render(content).splitlines()
    assert lines[0] == "openblas: ntm, float32 on theano 1.0.5, Python 3.9.2"
    assert lines[2:4] == [
        "step (steps 10)",
        "  a call: 2.000 ms, median of 3 (2.000 to 4.000), not profiled",
    ]
    assert lines[-1] == "  1.5 GFLOP/s"
    content["variant"] = None
    assert table.render(content).startswith("ntm, float32 on theano")


def test_the_fast_way_is_compared_with_the_slow_one() -> None:
    slow, fast = case(None, seconds=0.003), case(None, seconds=0.002)
    slow["name"], fast["name"] = "four", "merged"
    fast.update(slow="four", memory={"peak": 2_500_000, "kept": 40_000})
    slow.update(slow=None, memory={"peak": None, "kept": 0})
    content = report(slow, fast)
    content["grad_seconds"] = 28.02125
    text = table.render(content)
    assert "  memory: unknown more during a call; 0.00 MB of results stay" in text
    assert "  memory: 2.50 MB more during a call; 0.04 MB of results stay" in text
    assert "\nTime in all call to theano.grad() 2.802125e+01s\n" in text
    alike = "\nmerged instead of four: 1.50 times as fast; the optimised graphs are the same\n"
    assert alike in text
    fast["graph"]["signature"] = "b" * 12
    assert "\nmerged instead of four: 1.50 times as fast\n" in table.render(content)


def test_a_report_of_a_device_has_its_places() -> None:
    places = {"device": {"GpuGemm": 2}, "host": {"Sum": 1}, "to_device": 3, "from_device": 1}
    content = report({**case(None), "places": places})
    content["device"] = {"where": "cuda", "name": "a GPU", "driver": "CUDA 12"}
    text = table.render(content)
    assert "on cuda: a GPU, CUDA 12\neach call waits for the device" in text
    assert "2 nodes on the device; transfers: 3 to, 1 from; left on the host: Sum 1" in text


def test_long_tables_end_with_the_share_of_the_other_rows() -> None:
    many = tables("Dot22", 2.5, 50, "C", applies=25)
    text = table.render(report(case(profile(many, tables("Gemm", 0.5, 10, "C")))))
    assert "   ... (remaining 5 Apply instances account for  20.00%(0.50s) of the runtime)" in text
