"""A small Keras network on Theano learns whether a point lies in a circle."""

import os
import sys
import time

os.environ["KERAS_BACKEND"] = "theano"

import numpy as np
from keras.callbacks import LambdaCallback
from keras.layers import Dense
from keras.models import Sequential

MINIBATCH, EPOCHS = 50, 40


def mark(*_, **__):
    """Print the line that `./invoke bench -- CMD` times steps by."""
    print("THEANO_STACKS_STEP")


def main():
    start = time.time()
    random = np.random.RandomState(1)
    np.random.seed(1)
    points = random.uniform(-1, 1, (2000, 2))
    inside = (np.hypot(points[:, 0], points[:, 1]) < 0.7).astype("float32")

    model = Sequential(
        [Dense(64, activation="relu", input_shape=(2,)), Dense(1, activation="sigmoid")]
    )
    model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
    model.train_on_batch(points[:MINIBATCH], inside[:MINIBATCH])
    print("compiled   %.1f s" % (time.time() - start))

    start = time.time()
    marks = [LambdaCallback(on_batch_end=mark)] if "--marks" in sys.argv else []
    history = model.fit(
        points, inside, batch_size=MINIBATCH, epochs=EPOCHS, verbose=0, callbacks=marks
    )
    steps = EPOCHS * len(points) / MINIBATCH
    found = history.history["accuracy"][-1]
    print("step       %.3f ms" % (1e3 * (time.time() - start) / steps))
    print("loss       %.3f, accuracy %.3f" % (history.history["loss"][-1], found))
    assert found > 0.97, found


if __name__ == "__main__":
    main()
