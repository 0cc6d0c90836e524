"""Bayesian linear regression with PyMC 6 and nutpie: the posterior must find the line."""

import argparse
import time

import numpy as np
import nutpie
import pymc as pm

INTERCEPT, SLOPE, NOISE = 1.0, 2.5, 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="numba", help="numba or jax compiles the model")
    parser.add_argument("--marks", action="store_true", help="print a line after each sampling")
    arguments = parser.parse_args()

    start = time.time()
    random = np.random.RandomState(1)
    x = random.uniform(-1, 1, 200)
    y = INTERCEPT + SLOPE * x + random.normal(0, NOISE, 200)
    with pm.Model() as model:
        intercept = pm.Normal("intercept", 0, 10)
        slope = pm.Normal("slope", 0, 10)
        noise = pm.HalfNormal("noise", 1)
        pm.Normal("y", intercept + slope * x, noise, observed=y)
    compiled = nutpie.compile_pymc_model(model, backend=arguments.backend)
    # The second sampling has nothing left to compile.
    for draws in (5, 500):
        trace = nutpie.sample(
            compiled, draws=draws, tune=draws, chains=2, cores=1, seed=1, progress_bar=False
        )
        if arguments.marks:
            print("THEANO_STACKS_STEP")
    means = {name: float(trace.posterior[name].mean()) for name in ("intercept", "slope", "noise")}
    for (name, mean), truth in zip(means.items(), (INTERCEPT, SLOPE, NOISE)):
        print("%-10s %.3f, the data were made with %g" % (name, mean, truth))
        assert abs(mean - truth) < 0.15, (name, mean)
    print("seconds    %.1f" % (time.time() - start))


if __name__ == "__main__":
    main()
