"""The run record: one tagged JSON line for each event of a training run (docs/run-record.md).

    run = Run("10", args, model)  # on every rank, before anything wraps or changes the model
    for epoch in range(args.epochs):
        with run.epoch() as log:
            …  # training only
            log(loss=loss, accuracy=accuracy)
    run.end(test_loss=loss, test_accuracy=accuracy)

With Keras, `fit(callbacks=[run.keras()])` replaces the loop.
"""

from lessons.toolkit.record.parameters import param_hash
from lessons.toolkit.record.run import Run

__all__ = ["Run", "param_hash"]
