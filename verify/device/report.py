"""Turn the results of the steps on the device into checks, timings and a part of the report."""

from __future__ import absolute_import, division, print_function

from verify.core.report import FAIL, PASS, SKIP, Check, timing

# The longest inner product has some hundred terms.
PRECISION = {"float32": 1e-4, "float64": 1e-12}
LEAST_OF_BLAS = 0.8
OVERHEAD = "Theano spends too much time beside the product: look for transfers in a profile"
COMPUTED = (
    "Gemm",
    "Gemv",
    "elementwise",
    "reduce",
    "softmax",
    "convolution",
    "scan",
    "training step",
)
# The check of a step, where its name is another one, and the subject of an optimiser's fix.
TITLES, GRAPHS = {"speed": "Gemm speed"}, "the optimiser"
# What Theano cannot do on OpenCL is skipped with the reason, as no environment can fix it: the
# beginning of the error of a scan, and the reason.
SCAN = (
    "This is for CUDA arrays",
    "pygpu gives no address of an OpenCL array, which Theano's scan asks for",
)
# Views of an input before its transfer.
VIEWS = {"Subtensor"}
# An op that stays on the host, and the reason; LOSS are the ops that use its result.
ENTROPY = (
    "CrossentropySoftmaxArgmax1HotWithBias",
    "its kernel is not valid OpenCL, so this environment's settings leave it on the host",
)
LOSS = {ENTROPY[0], "Sum", "Elemwise of true_div", "Elemwise of TrueDiv", "Elemwise of Composite"}


def checks_and_timings(context, results):
    """Return ([Check], [Timing]) of the steps, and add `operations` and `optimiser` to the device.

    results: {step: message of the probe, with `result` or `error`}.
    """
    context.device["operations"] = {
        name: results[name]["result"]["places"]
        for name in COMPUTED
        if "result" in results.get(name, {})
    }
    if "optimiser" in results:
        context.device["optimiser"] = results["optimiser"].get("result")
    # Each with the function that returns (status, detail, [Timing]), and what its fix is about.
    steps = [(name, _computed, name) for name in COMPUTED]
    steps += [("left on the host", _left, GRAPHS)]
    steps += [(name, _products, "Gemm") for name in ("speed", "products")]
    steps += [(name, _optimiser, GRAPHS) for name in ("optimiser", "large optimiser")]
    checks, timings = [], []
    for name, function, subject in steps:
        if name not in results:
            continue
        title, fix = "device: " + TITLES.get(name, name), None
        error, times = results[name].get("error"), []
        if error is None:
            status, error, times = function(context, name, results[name]["result"])
        else:
            status = FAIL
        if status == FAIL:
            fix = OVERHEAD if times and subject == "Gemm" else _fix(subject, error)
        checks.append(Check(title, status, error, fix))
        timings += times
    return checks, timings


def _fix(name, error):
    if "OUT_OF_MEMORY" in error:
        return "other programs hold the device's memory: end those that `nvidia-smi` shows"
    return (
        "remove your own settings from THEANO_FLAGS and ~/.theanorc and verify again; if %s still "
        "fails, this driver does not work with libgpuarray: use another one" % name
    )


def _is_opencl(context):
    return context.requested_device.startswith("opencl")


def _computed(context, name, result):
    """Judge one of COMPUTED, which has no timings."""
    places, errors = result["places"], sorted(result["errors"].items())
    words = [_counts(places["device"]) or "nothing on the device"]
    words += ["host: " + _counts(places["host"])] if places["host"] else []
    words.append("transfers: %(to_device)d to, %(from_device)d from" % places)
    words.append("off by " + ", ".join("%.0e in %s" % (error, dtype) for dtype, error in errors))
    detail = "; ".join(words)
    if not all(error <= PRECISION[dtype] for dtype, error in errors):
        return FAIL, "wrong numbers: " + detail, []
    refused = result.get("refused", "")
    if _is_opencl(context) and SCAN[0] in refused:
        return SKIP, "not on OpenCL (%s: %s); on the host: %s" % (SCAN + (detail,)), []
    if refused:
        return FAIL, refused, []
    on_host = sorted(set(places["host"]) - VIEWS)
    if _is_opencl(context) and ENTROPY[0] in on_host and not set(on_host) - LOSS:
        return SKIP, "%s is not on OpenCL: %s; %s" % (ENTROPY + (detail,)), []
    if not result["served"] or on_host:
        return FAIL, "on the host: %s; %s" % (", ".join(on_host) or "all", detail), []
    return PASS, detail, []


def _counts(ops):
    return ", ".join("%s %d" % item for item in sorted(ops.items()))


def _left(context, name, result):
    functions = ", ".join("%s (%s)" % item for item in sorted(result.items()))
    if not functions:
        return PASS, "nothing", []
    why = "has no OpenCL kernels for them" if _is_opencl(context) else "leaves them there"
    return SKIP, "Theano %s: %s" % (why, functions), []


def _products(context, name, result):
    """Judge the product of speed.measure, or those of speed.ALL_SIZES."""
    is_one = name == "speed"
    shares, words, timings = [], [], []
    for one in [dict(result, dtype="float32")] if is_one else result:
        product = "%(dtype)s %(size)d" % one
        best, alone = max(one["theano"]), max(one["alone"])
        shares.append(best / alone)
        blas, peak = one.get("blas", "the BLAS"), _of_peak(context, one["dtype"], best)
        figures = (product, best, 100 * best / alone, blas, peak)
        words.append("%s: %.1f GFLOP/s, %.0f %% of %s alone%s" % figures)
        timings += [
            timing("device Gemm " + product, "GFLOP/s", one["theano"]),
            timing("device BLAS alone " + product, "GFLOP/s", one["alone"]),
        ]
    if not shares:
        return SKIP, "other programs hold the device's memory", []
    if is_one:
        timings.append(timing("device check_blas " + product, "s", [result["check_blas"]]))
    return PASS if min(shares) >= LEAST_OF_BLAS else FAIL, "; ".join(words), timings


def _of_peak(context, dtype, rate):
    """Return the share of the peak as words, empty where that is not known.

    It is the measured one of a processor, the nominal one of a GPU.
    """
    device, kind = context.device, "nominal"
    peak = device["peaks"].get(dtype)
    if device["is_cpu"]:
        peaks, kind = context.peaks.get(dtype), "measured"
        peak = peaks[max(peaks)] if peaks else None
    return ", %.0f %% of the %s peak" % (100 * rate / peak, kind) if peak else ""


def _optimiser(context, name, result):
    words, times, is_moved = [], [], True
    for tag in ("fast_run", "fast_compile"):
        if tag not in result:
            continue
        run, on_host = result[tag], sum(result[tag]["host"].values())
        graph, local = min(run["graph"]), min(run["local"])
        figures = (tag, run["nodes"][0], graph, local, graph / local, run["seconds"])
        words.append(
            "%s: %d nodes, moved in %.2f s by GraphToGPU and in %.2f s by the local optimiser "
            "(ratio %.2f), all optimisers %.1f s; %d on the device, %d on the host"
            % (figures + (run["device"], on_host))
        )
        times += [
            timing("%s %s, GraphToGPU" % (name, tag), "s", run["graph"]),
            timing("%s %s, local" % (name, tag), "s", run["local"]),
            timing("%s %s, all" % (name, tag), "s", [run["seconds"]]),
        ]
        is_moved = is_moved and run["device"] > on_host and run["applied"] > 0
    detail = "; ".join(words)
    if is_moved:
        return PASS, detail, times
    return FAIL, "most nodes stay on the host: " + detail, times
