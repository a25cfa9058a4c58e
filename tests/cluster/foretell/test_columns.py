"""Columns of tables as people write them."""

import pytest

from cluster.foretell.columns import Value, role


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (
            "n_gpus|Number of GPUs|# GPUs|GPUs (A100)|V100 GPUs|H100|ngpus|nGPUs|world_size",
            "workers",
        ),
        ("ranks|total GPUs|workers|accelerators|TPU chips|n|p|cores", "workers"),
        ("nodes|# nodes|num_nodes|Number of nodes", "nodes"),
        ("GPUs per node|GPUs/node|gpus_per_node|ranks per node", "per node"),
        ("local batch|batch size per GPU|micro_batch", "local batch"),
        ("global batch|batch|batch size", "global batch"),
        ("model|accuracy|loss|epochs|MFU (%)|GPU-hours|seed|GPU type", None),
    ],
)
def test_what_is_no_value(names, what):
    assert {name: role(name) for name in names.split("|")} == dict.fromkeys(names.split("|"), what)


@pytest.mark.parametrize(
    ("names", "kind", "unit"),
    [
        ("s|seconds|time_s|step time [s]|s/it|seconds a step|epoch_time|wall time", "time", 1),
        ("ms/step|iteration time (ms)|latency_ms", "time", 0.001),
        ("minutes|time_min|Time to train (min)|minutes to accuracy", "time", 60),
        ("hours|wall-clock time (h)", "time", 3600),
        ("images/s|img/sec|samples per second|Throughput (images/sec)|PFLOP/s|speedup", "rate", 1),
        ("tokens/s/GPU|tokens/s a GPU|tok_per_s_per_gpu|TFLOP/s per GPU|TFLOPs/GPU", "each", 1),
        ("efficiency|scaling efficiency (%)|weak scaling efficiency", "each", 1),
    ],
)
def test_what_was_measured(names, kind, unit):
    for name in names.split("|"):
        value = role(name)
        assert isinstance(value, Value), name
        assert (value.kind, value.unit) == (kind, unit), name
