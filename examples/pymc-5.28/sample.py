"""Bayesian linear regression with PyMC 5: the posterior must find the line that made the data."""

import sys
import time

import numpy as np
import pymc as pm

INTERCEPT, SLOPE, NOISE = 1.0, 2.5, 0.5


def mark(*_, **__):
    """Print the line that `./invoke bench -- CMD` times draws by."""
    print("THEANO_STACKS_STEP")


def main():
    start = time.time()
    random = np.random.RandomState(1)
    x = random.uniform(-1, 1, 200)
    y = INTERCEPT + SLOPE * x + random.normal(0, NOISE, 200)
    with pm.Model():
        intercept = pm.Normal("intercept", 0, 10)
        slope = pm.Normal("slope", 0, 10)
        noise = pm.HalfNormal("noise", 1)
        pm.Normal("y", intercept + slope * x, noise, observed=y)
        trace = pm.sample(
            500,
            nuts_sampler="pymc",
            tune=500,
            chains=2,
            cores=1,
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
            callback=mark if "--marks" in sys.argv else None,
        )
    means = {name: float(trace.posterior[name].mean()) for name in ("intercept", "slope", "noise")}
    for (name, mean), truth in zip(means.items(), (INTERCEPT, SLOPE, NOISE)):
        print("%-10s %.3f, the data were made with %g" % (name, mean, truth))
        assert abs(mean - truth) < 0.15, (name, mean)
    print("seconds    %.1f" % (time.time() - start))


if __name__ == "__main__":
    main()
