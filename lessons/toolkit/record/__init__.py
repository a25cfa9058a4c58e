"""The run record: one tagged JSON line for each event of a training run (docs/run-record.md).

    record = Record("02", args, source="keras", params=…, dataset=mnist.facts)
    model.fit(…, callbacks=[record.keras_callback()])
    record.end(test_loss=loss, test_accuracy=accuracy)

Without the callback, call record.begin(params) before the training loop. In each epoch, use
`with record.epoch(steps=…) as epoch:` and call epoch.log(loss=…, accuracy=…) in this block. Call
record.trained(params) at the end. With several ranks, every rank makes a Record and ends it.
"""

from lessons.toolkit.record.parameters import param_hash
from lessons.toolkit.record.record import Record

__all__ = ["Record", "param_hash"]
