"""The rows of the tables of faults in the lessons: words of a row -> what shows it."""

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
JOBS = "../../cluster/jobs/test_traps.py"
LAPTOP = "../../cluster/schedulers/test_laptop.py"
TORCH = "test_traps_of_torch.py"
ALONE = Kept("lazy 10.1 each rank alone", also={"ranks": 1})

ROWS: dict[str, dict[str, list[Proof]]] = {
    "00": {
        "one line instead of four": [Kept("python without launch", also={"ranks": 1})],
        "every line says rank 0 of 1": [
            MadeBy(BREAK, "test_without_its_launcher_every_rank_is_rank_0_of_1"),
        ],
        "has overwritten the first": [MadeBy(JOBS, "test_without_j_the_second_run_overwrites")],
        "output empty until the end": [MadeBy(JOBS, "test_without_u_an_output_is_empty")],
        "`ModuleNotFoundError`": [MadeBy(JOBS, "test_without_its_environment_a_program_ends")],
        "asks for an account": [NotHere("not run here")],
        "`COMPLETED 0:0`": [
            MadeBy(LAPTOP, "test_state_and_exit_code_are_those_of_the_script"),
        ],
    },
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
        "seven digits": [MadeBy("test_lesson_05.py", "test_three_replicas_equal_one")],
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
        ],
        "`mc.gradients` returns was not assigned": [
            Kept(
                "lazy 6.4 own gradients", {"accuracy": "0.924", "loss": "0.299", "spread": "0.24"}
            ),
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
        "optimizer's state": [
            MadeBy("test_lesson_07.py", "test_going_on_without_the_optimizers_state")
        ],
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
    "10": {
        "no rank knows the others": [ALONE],
        "by the *local* rank": [NotHere("not run here")],
        "every rank reads every image": [Kept("every rank reads all", also={"steps": 200})],
        "every epoch has the same order": [
            Kept("no set_epoch", also={"new order each epoch": False}),
        ],
        "networks that drift apart": [
            Kept("not wrapped", also={"starts": 2, "mean of all ranks": False})
        ],
        "every line N times": [ALONE, MadeBy(TRACES, "traces_of_07")],
        "`destroy_process_group`": [NotHere("not run here")],
        "no `set_epoch`": [Kept("no set_epoch", {"accuracy": "0.923"})],
        "mutually exclusive": [MadeBy(TORCH, "test_a_sampler_and_shuffle_exclude_each_other")],
        "prints nothing and does not end": [
            MadeBy("test_lesson_10.py", "test_the_hang_says_where_every_rank_waits"),
        ],
        "`address already in use`": [MadeBy(TORCH, "test_two_meetings_at_one_port")],
        "a sum of means": [
            Kept("a sum of means", also={"gradients of the whole batch": False}),
            MadeBy(TORCH, "test_a_sum_of_means_is_as_many_times_too_large_as_there_are_parts"),
        ],
        "no `no_sync`": [Kept("each part travels", also={"exchanges": 4})],
        "unequal batches": [
            MadeBy("test_lesson_10.py", "test_unequal_batches_give_another_gradient")
        ],
        "without an active exception": [NotHere("seen once here")],
    },
    "11": {
        "Timed out waiting": [
            MadeBy("test_lesson_11.py", "test_orders_that_wait_for_each_other_end_by_the_time_out"),
            PLANTED,
        ],
        "`dist.new_group` without a timeout": [
            MadeBy(TORCH, "test_a_new_group_does_not_inherit_the_timeout"),
        ],
        "equal numbers of layers": [
            Kept("lazy 11.1 equally many", also={"longest stage too long by": 0.25}),
        ],
        "a mean over unequal micro-batches": [
            Kept("a mean of each micro-batch", also={"gradients of one process": False}),
            MadeBy(TORCH, "test_batch_normalisation_sees_a_micro_batch_alone"),
        ],
        "a forgotten allreduce": [
            Kept("no allreduce backward", also={"as one rank": False}),
            Kept("summed both ways", also={"as one rank": False}),
            Kept("the bias added on every rank", also={"as one rank": False}),
        ],
    },
    "12": {
        'a perfect "strong" curve': [Kept("the local batch kept", also={"batch": 128})],
        "a baseline that nothing beats": [NotHere("not run here")],
    },
    "14": {
        "the processor idles meanwhile": [Kept("no workers", also={"own reads": 1})],
        "hundreds of operations": [
            Kept("updated parameter by parameter", also={"update operations": 282}),
        ],
        "the first step of each kind": [
            Kept("ways", also={"compilations": 5}, where={"source": "lengths"})
        ],
        "falls more slowly": [MadeBy(TRACES, "traces_of_14")],
        "too large by the number of parts": [PLANTED],
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
