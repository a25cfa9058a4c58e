"""The run record: one tagged JSON line for each event of a training run (docs/run-record.md).

    record = Record("02", args, source="keras", params=…, dataset=mnist.facts)
    model.fit(…, callbacks=[record.keras_callback()])
    record.end(test_loss=loss, test_accuracy=accuracy)

Instead of the callback, a plain loop calls record.begin(params), `with record.epoch(steps=…) as
epoch: … epoch.log(loss=…, accuracy=…)` and record.trained(params). With several ranks, every rank
makes a Record and ends it.
"""

from lessons.toolkit.record.parameters import param_hash
from lessons.toolkit.record.record import Record

__all__ = ["Record", "param_hash"]
