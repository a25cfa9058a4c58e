"""The rows of the tables of faults in lessons 05 to 09 and 16: words of a row -> what shows it."""

from tests.lessons.programs.faults import Kept, MadeBy, NotHere, Proof

BREAK = "test_break_it.py"
TRACES = "break_it.py"  # looked at in every whole lesson
OUTSIDE = Kept("built and compiled outside", also={"replicas": 1, "steps": 8})
SMALL_BATCH = Kept("batch not scaled", also={"steps": 16, "replicas": 2})
AVERAGE = {"accuracy": "0.890", "spread": "0.17"}
UNEQUAL = MadeBy(TRACES, "traces_of_08")
PLANTED = MadeBy("../planted/test_mistakes.py", "test_the_grader_names_what_a_mistake_broke")
IN_VAIN = MadeBy("test_lesson_16.py", "test_who_does_not_come_is_named")
TF_CONFIG = MadeBy("test_tf_config.py", "test_a_wrong_tf_config_ends_as_the_page_says")

ROWS: dict[str, dict[str, list[Proof]]] = {
    "05": {
        "a list of devices": [
            Kept("all devices instead of the asked one", also={"replicas": 2}),
        ],
        "| `MirroredStrategy(devices)`": [Kept("no strategy", also={"replicas": 1})],
        "build outside, compile inside": [
            MadeBy("../planted/test_mistakes.py", "test_a_network_built_outside_the_scope_ends"),
            OUTSIDE,
            Kept("lazy 5.2 the optimizer outside of the scope", also={"steps": 8}),
        ],
        "| global batch = batch of a replica": [SMALL_BATCH],
        "| rate × N |": [Kept("rate not scaled", also={"steps": 8, "rate": 0.02})],
        "16 steps instead of 8": [
            SMALL_BATCH,
            Kept("the pipeline makes batches of a replica", also={"steps": 16}),
        ],
        "`ValueError: … was not created": [
            MadeBy("../planted/test_mistakes.py", "test_a_network_built_outside_the_scope_ends"),
        ],
        "`replicas` 1, though 2": [OUTSIDE],
        "`replicas` 2, though 1": [
            Kept("all devices instead of the asked one", also={"replicas": 2, "steps": 8}),
        ],
        "8 GPUs allocated": [NotHere("not run here")],
        "rate 0.02 instead of 0.04": [
            Kept("rate not scaled", {"loss": "2.302", "rate": "0.02"}, {"steps": 8}),
            Kept("built and compiled outside", {"loss": "2.300", "rate": "0.04"}),
        ],
        "seven digits": [MadeBy("test_lesson_05.py", "test_replicas_equal_one_replica")],
        "batch normalisation by replica": [MadeBy(BREAK, "test_batch_normalisation_by_replica")],
        "begins at 4.6": [MadeBy(TRACES, "traces_of_05")],
        "four GPUs slower than one": [NotHere("published")],
    },
    "06": {
        "blocking sends": [
            MadeBy("test_lesson_06.py", "test_blocking_sends_around_a_ring_hang"),
            MadeBy(TRACES, "traces_of_06"),
        ],
        "summed and not divided": [
            Kept(
                "summed and not divided",
                {"accuracy": "0.920", "loss": "0.224"},
                {"spread": 0.0, "as one rank": False},
            ),
            Kept(
                "a rate scaled although the batch is not",
                {"accuracy": "0.920", "loss": "0.224"},
                {"spread": 0.0, "as one rank": False},
            ),
            MadeBy(BREAK, "test_a_sum_is_as_many_times_the_rate_as_there_are_ranks"),
        ],
        "no broadcast and unlike seeds": [
            Kept("lazy 6.4 no broadcast", {"accuracy": "0.910", "spread": "0.89"}),
            Kept("lazy 6.4 broadcast thrown away", {"accuracy": "0.910", "spread": "0.89"}),
        ],
        "`mc.gradients` returns was not assigned": [
            Kept("no exchange", {"accuracy": "0.924", "loss": "0.299", "spread": "0.24"}),
        ],
        "all ranks read the same half": [
            Kept(
                "all ranks read the same half",
                {"accuracy": "0.924"},
                {"spread": 0.0, "as one rank": False},
            ),
        ],
        "second half is missing": [MadeBy(TRACES, "traces_of_06")],
        "divided once more": [
            Kept(
                "own mean, divided once more",
                {"accuracy": "0.908", "loss": "0.330"},
                {"spread": 0.0, "as one rank": False},
            ),
        ],
        "twice the bytes": [MadeBy(BREAK, "test_float64_moves_twice_the_bytes")],
        "rank 0's own clock": [MadeBy(BREAK, "test_rank_0_s_clock_stops_before_the_others")],
        "the others wait for ever": [MadeBy(BREAK, "test_a_rank_that_ends_early_leaves_")],
        "4 runs of size 1": [MadeBy(BREAK, "test_without_its_launcher_every_rank_is_rank_0_of_1")],
    },
    "07": {
        "| `hvd.init()` |": [MadeBy(TRACES, "traces_of_07")],
        "GPU number `hvd.local_rank()`": [NotHere("not run here")],
        "`DistributedOptimizer` | N networks": [Kept("not wrapped", also={"steps": 100})],
        "rate × size": [Kept("rate not scaled", also={"rate": 0.001, "spread": 0.0})],
        "parameters of rank 0": [Kept("no broadcast", also={"starts": 2})],
        "checkpoint and prints": [
            Kept("every rank saves", also={"files": 2}),
            MadeBy(TRACES, "traces_of_07"),
        ],
        "rank 0 of 1": [
            Kept("lazy 7.1 each rank alone", {"accuracy": "0.90"}, {"ranks": 1}),
            Kept("size 1 on every rank", also={"ranks": 1}),
        ],
        "no wrapped optimizer; or Keras 3": [
            Kept("not wrapped", AVERAGE, {"starts": 1}),
            Kept("keras 3", AVERAGE, {"starts": 1}),
        ],
        "one order of the images": [
            Kept(
                "lazy 7.1 one order of the images for all",
                {"accuracy": "0.864"},
                {"spread": 0.0, "losses": 1},
            ),
        ],
        "four epochs": [
            Kept("epochs not divided", {"accuracy": "0.916"}, {"epochs": 4, "steps": 100}),
        ],
        "`files_found`": [Kept("every rank saves", also={"files": 2, "epochs": 2})],
        "optimizer's state": [MadeBy(BREAK, "test_going_on_without_the_optimizers_state")],
    },
    "08": {
        "each rank listed the folder": [
            Kept(
                "each rank lists the folder",
                {"accuracy": "0.857", "read twice": "800", "never read": "800"},
            ),
        ],
        "an own order drawn on each rank": [
            Kept(
                "an order each before slicing",
                {"accuracy": "0.858", "read twice": "600", "never read": "600"},
            ),
        ],
        "the last items cut off": [
            Kept(
                "the last file cut off", {"accuracy": "0.835", "steps": "19", "never read": "400"}
            ),
        ],
        "Missing ranks": [
            MadeBy("../planted/test_mistakes.py", "test_unequal_steps_that_hang_are_told_so"),
            UNEQUAL,
        ],
        "sorted by class": [Kept("lazy 8.1 sorted by class", {"accuracy": "0.837"})],
        "every rank read every file": [
            Kept(
                "every rank takes all", {"accuracy": "0.889", "steps": "50"}, {"read twice": 1600}
            ),
        ],
        "samples *processed*": [Kept("every rank takes all", also={"processed": 3200})],
    },
    "09": {
        "rate scaled *and* gradients summed": [
            Kept(
                "rate scaled and gradients summed: N²",
                {"accuracy": "0.10", "loss": "2.31", "first loss": "9"},
                where={"rule": "linear"},
            ),
        ],
        "divided by N": [
            Kept("rate divided by N", {"accuracy": "0.803"}, {"rate": 0.0125}, {"rule": "linear"}),
        ],
        "momentum 0.9 left on": [
            Kept("momentum left on", {"accuracy": "0.912"}, where={"rule": "linear"}),
            Kept("momentum left on", {"accuracy": "0.941"}, where={"rule": "same"}),
        ],
        "the decay was forgotten": [
            Kept("decay forgotten", {"accuracy": "0.34"}, {"loss rises": True}),
        ],
        "a warm-up counted in epochs": [
            Kept(
                "warm-up in epochs of the small batch: longer than the run", {"accuracy": "0.907"}
            ),
        ],
        "equal epochs taken for equal updates": [
            MadeBy(BREAK, "test_a_large_batch_needs_more_epochs"),
        ],
        "one seed": [MadeBy(BREAK, "test_one_seed_makes_no_rule")],
        "the training losses were not equal": [
            MadeBy(BREAK, "test_a_gap_closes_when_one_trains_on")
        ],
    },
    "16": {
        "TF_CONFIG before the strategy": [
            Kept("lazy 16.1 each worker alone", also={"ranks heard": 1}),
        ],
        "`with strategy.scope():`": [PLANTED],
        "`distribute_datasets_from_function`": [
            MadeBy("test_tf_config.py", "test_fit_shards_a_workers_own_images_once_more"),
        ],
        "`TF_USE_LEGACY_KERAS=1`": [PLANTED],
        "`in_time(…)`": [IN_VAIN],
        "a worker is missing": [IN_VAIN, PLANTED],
        "both have index 0": [PLANTED],
        "indices 1 and 2": [TF_CONFIG],
        '`"tasks"` for `"task"`': [TF_CONFIG],
        'an empty `"cluster"`': [
            TF_CONFIG,
            Kept("lazy 16.1 nobody in the cluster", also={"ranks heard": 1}),
        ],
        "`fit` fails under either strategy": [PLANTED],
        "TensorFlow waits forever at the start": [IN_VAIN],
        "a parameter server waits forever": [NotHere("with one thread")],
        "out of memory on a GPU": [NotHere("not run here")],
    },
}
