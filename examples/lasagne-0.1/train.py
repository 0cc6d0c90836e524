"""A small Lasagne network learns whether a point lies in a circle."""

import sys
import time

import lasagne
import numpy as np
import theano
import theano.tensor as tt

MINIBATCH, EPOCHS = 50, 40


def main():
    start = time.time()
    random = np.random.RandomState(1)
    lasagne.random.set_rng(random)
    points = random.uniform(-1, 1, (2000, 2)).astype(theano.config.floatX)
    inside = (np.hypot(points[:, 0], points[:, 1]) < 0.7).astype("int32")

    x, y = tt.matrix("x"), tt.ivector("y")
    layer = lasagne.layers.InputLayer((None, 2), x)
    layer = lasagne.layers.DenseLayer(layer, 64)
    layer = lasagne.layers.DenseLayer(layer, 2, nonlinearity=lasagne.nonlinearities.softmax)
    output = lasagne.layers.get_output(layer)
    loss = lasagne.objectives.categorical_crossentropy(output, y).mean()
    parameters = lasagne.layers.get_all_params(layer, trainable=True)
    train = theano.function([x, y], loss, updates=lasagne.updates.adam(loss, parameters, 0.01))
    accuracy = theano.function([x, y], tt.eq(output.argmax(axis=1), y).mean())
    print("compiled   %.1f s" % (time.time() - start))

    start, steps = time.time(), 0
    for _ in range(EPOCHS):
        for first in range(0, len(points), MINIBATCH):
            chosen = slice(first, first + MINIBATCH)
            loss_value = float(train(points[chosen], inside[chosen]))
            steps += 1
            if "--marks" in sys.argv:
                # The line that `./invoke bench -- CMD` times steps by.
                print("THEANO_STACKS_STEP")
    found = float(accuracy(points, inside))
    print("step       %.3f ms" % (1e3 * (time.time() - start) / steps))
    print("loss       %.3f, accuracy %.3f" % (loss_value, found))
    assert found > 0.97, found


if __name__ == "__main__":
    main()
