"""Turn the results of the steps on the device into checks, timings and a part of the report."""

from __future__ import absolute_import, division, print_function

from verify.core.report import failed, passed, skipped, timing

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


def describe(device, name):
    """Return one line of text about a device; name: as Theano's flag `device` has it."""
    return "%s: %s (%s)" % (name, device["name"], device["driver"])


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
    checks, timings = [], []
    for name, title, function, subject in _steps():
        if name not in results:
            continue
        error = results[name].get("error")
        if error is None:
            check, times = function(context, name, title, results[name]["result"])
        else:
            check, times = failed(title, error, _fix(subject, error)), []
        checks.append(check)
        timings += times
    return checks, timings


def _steps():
    """Yield (step, title of its check, function that makes the check, what its fix is about)."""
    for name in COMPUTED:
        yield name, "device: " + name, _computed, name
    yield "left on the host", "device: left on the host", _left, "the optimiser"
    yield "speed", "device: Gemm speed", _speed, "Gemm"
    yield "products", "device: products", _products, "Gemm"
    for name in ("optimiser", "large optimiser"):
        yield name, "device: " + name, _optimiser, "the optimiser"


def _is_opencl(context):
    return context.requested_device.startswith("opencl")


def _computed(context, name, title, result):
    """Return the Check of one of COMPUTED, and no timings."""
    errors = sorted(result["errors"].items())
    off = ", ".join("%.0e in %s" % (error, dtype) for dtype, error in errors)
    detail = "%s; off by %s" % (_places(result["places"]), off)
    if not all(error <= PRECISION[dtype] for dtype, error in errors):
        return failed(title, "wrong numbers: " + detail, _fix(name)), []
    refused = result.get("refused", "")
    if _is_opencl(context) and SCAN[0] in refused:
        detail = "not on OpenCL (%s: %s); on the host: %s" % (SCAN + (detail,))
        return skipped(title, detail), []
    if refused:
        return failed(title, refused, _fix(name)), []
    on_host = sorted(set(result["places"]["host"]) - VIEWS)
    if _is_opencl(context) and ENTROPY[0] in on_host and not set(on_host) - LOSS:
        detail = "%s is not on OpenCL: %s; %s" % (ENTROPY + (detail,))
        return skipped(title, detail), []
    if not result["served"] or on_host:
        detail = "on the host: %s; %s" % (", ".join(on_host) or "all", detail)
        return failed(title, detail, _fix(name)), []
    return passed(title, detail), []


def _places(places):
    words = [_counts(places["device"]) or "nothing on the device"]
    if places["host"]:
        words.append("host: " + _counts(places["host"]))
    words.append("transfers: %d to, %d from" % (places["to_device"], places["from_device"]))
    return "; ".join(words)


def _counts(ops):
    return ", ".join("%s %d" % item for item in sorted(ops.items()))


def _left(context, name, title, result):
    functions = ", ".join("%s (%s)" % item for item in sorted(result.items()))
    if not functions:
        return passed(title, "nothing"), []
    why = "has no OpenCL kernels for them" if _is_opencl(context) else "leaves them there"
    return skipped(title, "Theano %s: %s" % (why, functions)), []


def _speed(context, name, title, result):
    size, best, alone = result["size"], max(result["theano"]), max(result["alone"])
    detail = "%.1f GFLOP/s at %d, %.0f %% of %s alone (%.1f)" % (
        best,
        size,
        100 * best / alone,
        result["blas"],
        alone,
    )
    detail += _of_peak(context, "float32", best)
    timings = [
        timing("device Gemm float32 %d" % size, "GFLOP/s", result["theano"]),
        timing("device BLAS alone float32 %d" % size, "GFLOP/s", result["alone"]),
        timing("device check_blas float32 %d" % size, "s", [result["check_blas"]]),
    ]
    if best < LEAST_OF_BLAS * alone:
        return failed(title, detail, OVERHEAD), timings
    return passed(title, detail), timings


def _products(context, name, title, result):
    """Return the Check and the Timings of the products of speed.ALL_SIZES."""
    if not result:
        return skipped(title, "other programs hold the device's memory"), []
    shares, words, timings = {}, [], []
    for one in result:
        product = "%(dtype)s %(size)d" % one
        best, alone = max(one["theano"]), max(one["alone"])
        shares[product] = best / alone
        peak = _of_peak(context, one["dtype"], best)
        words.append(
            "%s: %.1f GFLOP/s, %.0f %% of the BLAS alone%s"
            % (product, best, 100 * best / alone, peak)
        )
        timings += [
            timing("device Gemm " + product, "GFLOP/s", one["theano"]),
            timing("device BLAS alone " + product, "GFLOP/s", one["alone"]),
        ]
    detail = "; ".join(words)
    if min(shares.values()) < LEAST_OF_BLAS:
        return failed(title, detail, OVERHEAD), timings
    return passed(title, detail), timings


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


def _optimiser(context, name, title, result):
    words, times, on_host = [], [], []
    for tag in ("fast_run", "fast_compile"):
        if tag not in result:
            continue
        run = result[tag]
        graph, local = min(run["graph"]), min(run["local"])
        words.append(
            "%s: %d nodes, moved in %.2f s by GraphToGPU and in %.2f s by the local optimiser "
            "(ratio %.2f), all optimisers %.1f s; %d on the device, %d on the host"
            % (
                tag,
                run["nodes"][0],
                graph,
                local,
                graph / local,
                run["seconds"],
                run["device"],
                sum(run["host"].values()),
            )
        )
        times += [
            timing("%s %s, GraphToGPU" % (name, tag), "s", run["graph"]),
            timing("%s %s, local" % (name, tag), "s", run["local"]),
            timing("%s %s, all" % (name, tag), "s", [run["seconds"]]),
        ]
        is_moved = any(row["applied"] for row in run["rows"])
        if run["device"] <= sum(run["host"].values()) or not is_moved:
            on_host.append(tag)
    detail = "; ".join(words)
    if on_host:
        return failed(title, "most nodes stay on the host: " + detail, _fix("the optimiser")), times
    return passed(title, detail), times


def _fix(name, error=""):
    if "OUT_OF_MEMORY" in error:
        return "other programs hold the device's memory: end those that `nvidia-smi` shows"
    return (
        "remove your own settings from THEANO_FLAGS and ~/.theanorc and verify again; if %s still "
        "fails, this driver does not work with libgpuarray: use another one" % name
    )


def table(device):
    """Return the lines of GraphToGPU's profile, as Theano prints it; [] if there is none.

    Above it is how long the old way takes, the local optimiser: node by node.
    """
    result = (device or {}).get("optimiser")
    if not result:
        return []
    run = result["fast_run"]
    lines = [
        "GraphToGPU on a stack of %d bidirectional recurrent layers of %d units, %d steps, with "
        "its gradient: %d nodes"
        % (result["layers"], result["width"], result["steps"], run["nodes"][1]),
        "old: %.3fs - local optimiser" % min(run["local"]),
        "new: %.3fs - GraphToGPU, %d nodes after it" % (min(run["graph"]), run["nodes"][2]),
        "  time io_toposort %.3fs" % run.get("toposort", 0.0),
        "  Total time taken by local optimizers %.3fs" % sum(r["seconds"] for r in run["rows"]),
        "  times - times applied - Node created - name:",
    ]
    keys = ("seconds", "applied", "created", "name")
    used = [row for row in run["rows"] if row["applied"]]
    unused = [row for row in run["rows"] if not row["applied"]]
    lines += ["  %.3fs - %d - %d - %s" % tuple(row[key] for key in keys) for row in used]
    seconds = sum(row["seconds"] for row in unused)
    lines.append("  %.3fs - in %d optimizations that were not used" % (seconds, len(unused)))
    lines += ["    %(seconds).3fs - %(name)s" % row for row in unused]
    return lines + [""]
