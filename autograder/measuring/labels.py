"""Labels of all measured values, as students and instructors see them.

METRICS takes the labels of its rows from here. Names that begin with `measure:` refer to values
that the course's own programs measure and record. Their units are here too.
"""

from dataclasses import dataclass

OWN = "measure:"


@dataclass(frozen=True, slots=True)
class Label:
    """A label, and the unit of a recorded measure. An empty unit means a plain number."""

    text: str
    unit: str = ""


LABELS: dict[str, Label] = {
    # participants
    "ranks": Label("ranks that took part"),
    "ranks_asked": Label("ranks asked for"),
    "replicas": Label("copies of the network"),
    "replicas_asked": Label("copies asked for"),
    "hosts": Label("hosts used"),
    "devices_distinct": Label("different devices"),
    "local_ranks": Label("local ranks are numbered from 0 on each host"),
    "launched": Label("a launcher started the ranks"),
    "job_known": Label("the run names its job"),
    "starts": Label("different sets of initial parameters"),
    "start_of_rank_0": Label("all ranks started with the parameters of rank 0"),
    "rank_losses": Label("different training losses of the ranks"),
    "labels_apart": Label("difference in a class's share between one rank and all ranks"),
    # the network and its data
    "params": Label("parameters of the network"),
    "image_size": Label("width of the images"),
    "train_samples": Label("size of the training set"),
    "unique_samples": Label("different samples read per epoch"),
    "read_most": Label("how many times one sample was read per epoch"),
    "reading_orders": Label("different orders of the samples"),
    "shard_overlap": Label("samples read by more than one rank"),
    "shard_uncovered": Label("samples that no rank read"),
    # how it was trained
    "epochs": Label("finished epochs"),
    "steps": Label("steps per epoch"),
    "steps_expected": Label("samples / batch size"),
    "share_steps": Label("batches on the rank with the fewest samples"),
    "steps_apart": Label("difference in steps between ranks"),
    "global_batch": Label("batch size of all ranks together"),
    "global_batch_per_worker": Label("batch size per worker"),
    "local_batch": Label("batch size on one rank"),
    "lr": Label("learning rate"),
    "lr_base": Label("learning rate before scaling"),
    "lr_last": Label("learning rate at the end"),
    "lr_per_worker": Label("learning rate per worker"),
    # how long it took
    "epoch_s": Label("time per epoch"),
    "epoch_s_min": Label("shortest epoch"),
    "epoch_s_max": Label("longest epoch"),
    "time_to_accuracy": Label("training time until the accuracy is reached"),
    "throughput": Label("samples per second"),
    "speedup": Label("speedup"),
    "efficiency": Label("efficiency"),
    # a speed job
    "rounds": Label("rounds measured"),
    "rounds_speedup": Label("speedup"),
    "rounds_ceiling": Label("ceiling (speedup of ranks that exchange nothing)"),
    "rounds_share": Label("share of the ceiling"),
    "rounds_moved": Label("smallest change in the parameters in a round"),
    "rounds_spread": Label("largest difference in a parameter between ranks"),
    # what was learnt
    "test_loss": Label("test loss"),
    "test_accuracy": Label("test accuracy"),
    "train_accuracy": Label("training accuracy"),
    "first_train_accuracy": Label("training accuracy of the first epoch"),
    "loss_first": Label("training loss of the first epoch"),
    "loss_last": Label("training loss of the last epoch"),
    "param_moved": Label("largest change in a parameter during training"),
    "params_changed": Label("parameters that training changed"),
    "param_spread": Label("largest difference in a parameter between ranks"),
    "same_params": Label("the same parameters, bit for bit"),
    # what was written
    "files_written": Label("checkpoint files that the ranks wrote"),
    "files_found": Label("new checkpoint files on the disk"),
    "checkpoint_kept": Label("the checkpoint has the trained parameters"),
    "chain_intact": Label("the record is complete and unchanged"),
    "error_file_separate": Label("errors are in a separate file"),
    # sweeps and scaling studies
    "useful_workers": Label("largest useful number of workers"),
    "sooner": Label("how many times faster than one worker"),
    "study_sizes": Label("sizes measured"),
    "study_samples": Label("different samples read per epoch"),
    "study_batch": Label("batch size of all ranks together"),
    "study_moved": Label("smallest change in the parameters in a pass"),
    "study_spread": Label("largest difference in a parameter between ranks"),
    "study_epoch_s": Label("time per epoch"),
    "study_speedup": Label("speedup"),
    "study_efficiency": Label("efficiency"),
    "study_amdahl_f": Label("Amdahl's f"),
    "study_gustafson_s": Label("Gustafson's s"),
    "study_speedup_low": Label("lowest predicted speedup"),
    "study_speedup_high": Label("highest predicted speedup"),
    # recorded measures: the cluster and the network
    "measure:facts_wrong": Label("launchers whose ranks were misread", "environments"),
    "measure:matrix products": Label("speed of matrix products", "GFLOP/s"),
    "measure:gradient_error": Label("relative error of the gradients"),
    "measure:descent_error": Label("relative error of a step of gradient descent"),
    "measure:bend": Label("deviation of the network from a straight line"),
    "measure:step_error": Label("error after a few training steps"),
    "measure:layers": Label("layers", "layers"),
    # reading samples
    "measure:pixels_away": Label("mean error of a pixel"),
    "measure:labels_right": Label("fraction of right labels"),
    "measure:order_kept": Label("similarity of the order to that of the previous epoch"),
    "measure:in_sequence": Label("fraction of samples in stored order"),
    "measure:orders_of_three": Label("different orders in three epochs", "orders"),
    "measure:order_again": Label("the same seed gives the same order (1: yes)"),
    "measure:files": Label("packed files", "files"),
    "measure:sizes_apart": Label("difference between the largest and the smallest file", "samples"),
    "measure:faster_than_files": Label("how many times faster than one file per sample"),
    "measure:epoch_over_sum": Label("epoch time / (input time + computing time)"),
    "measure:images_twice": Label("images read by more than one rank", "images"),
    "measure:images_missing": Label("images that no rank read", "images"),
    "measure:images_foreign": Label("images of another rank's files", "images"),
    "measure:ranks_that_looked": Label("ranks that listed the files", "ranks"),
    "measure:common_steps": Label("steps that all ranks can make", "steps"),
    # exchange between ranks
    "measure:least_busy_replica": Label("work of the least busy copy / its fair share"),
    "measure:ranks_heard": Label("ranks whose gradients arrived", "ranks"),
    "measure:workers_heard": Label("workers whose gradients arrived", "workers"),
    "measure:max_steps_off": Label("difference between announced and made steps", "steps"),
    "measure:team_left": Label("ranks left after the plugin ended"),
    "measure:difference_to_serial": Label("difference of the parameters from one process"),
    "measure:serial_error": Label("relative error against one process"),
    "measure:allreduce_error": Label("error of the sum"),
    "measure:allreduce_s": Label("time of an allreduce", "s"),
    "measure:arrays_moved": Label("arrays sent", "arrays"),
    "measure:share_sent": Label("sent arrays / those that it has to send"),
    "measure:under_way": Label("sums started before the last array", "arrays"),
    "measure:ring_speed": Label("the library's time / the ring's time"),
    "measure:straggler_growth_ms": Label("longer step with a slow rank", "ms"),
    "measure:update_error": Label("relative error of the parameter update"),
    "measure:lars_error": Label("relative error of the LARS update"),
    "measure:rate_error": Label("largest error of the learning rate / its peak"),
    "measure:lr": Label("learning rate"),
    "measure:orders_as_drawn": Label("fraction of orders that match the sampler's"),
    "measure:accumulation_error": Label("relative error of a batch that is computed in parts"),
    "measure:exchanges": Label("exchanges of gradients per batch"),
    "measure:drawn_error": Label("relative error of a randomly drawn step"),
    "measure:drawn_spread": Label("difference between ranks after a randomly drawn step"),
    "measure:drawn_images": Label(
        "samples that entered the network in a randomly drawn step", "samples"
    ),
    "measure:drawn_largest": Label(
        "samples in the largest part of a randomly drawn step", "samples"
    ),
    "measure:alone_error": Label("error after a step of one rank alone"),
    "measure:staleness_mean": Label("mean age of the gradients", "updates"),
    # parts of a network
    "measure:params_together": Label("parameters of all ranks together", "parameters"),
    "measure:params_twice": Label("arrays held by two ranks", "arrays"),
    "measure:split_excess": Label("excess weight of the heaviest stage"),
    "measure:schedule_excess": Label("idle time beyond what is necessary"),
    "measure:schedule_held": Label("micro-batches held at once, as scheduled", "micro-batches"),
    "measure:grid_wrong": Label("ranks in the wrong place in the grid", "ranks"),
    "measure:held": Label("micro-batches held at once", "micro-batches"),
    "measure:bytes_off": Label("relative difference of the bytes sent"),
    "measure:bytes_error": Label("relative error of the formula for bytes"),
    "measure:sizes_tried": Label("numbers of micro-batches tried"),
    "measure:rounds_made": Label("rounds measured", "rounds"),
    "measure:best_micro_batches": Label("fastest number of micro-batches"),
    "measure:gain_over_wanted": Label("measured gain / required gain"),
    "measure:pipeline_share": Label("share of what silent ranks do"),
    "measure:pipeline_moved": Label("smallest change in the parameters"),
    "measure:held_over_part": Label("parameters held / the rank's part"),
    "measure:held_over_share": Label("bytes held / the rank's share"),
    "measure:peak_bytes": Label("peak memory", "bytes"),
    "measure:activation_bytes": Label("memory of the activations", "bytes"),
    "measure:ranks_wrote": Label("ranks that wrote the checkpoint", "ranks"),
    "measure:largest_share": Label("largest share of the checkpoint on one rank"),
    "measure:next_loss": Label("test loss after one more step"),
    "measure:memory_error": Label("largest relative error of the memory formula"),
    # the milliseconds of a step
    "measure:own_reads": Label("share of the texts that the training process reads itself"),
    "measure:waits": Label("how often a step waits for the device"),
    "measure:forwards": Label("forward passes per step"),
    "measure:update_ops": Label("operations in the optimizer's update"),
    "measure:gain": Label("step time before / after"),
    "measure:mfu": Label("share of the peak that the step reaches"),
    "measure:loss_apart": Label("difference of the losses before and after"),
    "measure:note_error": Label("error of the noted losses"),
    "measure:flops_error": Label("relative error of the FLOPs"),
    "measure:roofline_error": Label("relative error of the roofline"),
    "measure:reading_error": Label("relative error of the times read from a trace"),
    "measure:scaler_error": Label("largest difference from PyTorch's scaler"),
    "measure:zeros": Label("share of gradients that are 0"),
    "measure:padding_error": Label("largest difference between losses with and without padding"),
    "measure:compilations": Label("compilations"),
    # jobs that survive
    "measure:lives": Label("times that the job started", "lives"),
    "measure:lost_to_kill": Label("steps lost to the worst kill", "steps"),
    "measure:lost_to_warning": Label("steps lost to the worst warning", "steps"),
    "measure:lost_over_interval": Label("steps lost / steps between checkpoints"),
    "measure:read_wrong": Label("samples not read exactly once per epoch", "samples"),
    "measure:agree_wrong": Label("cases in which ranks disagreed on a warning", "cases"),
    "measure:files_wrong": Label("cases in which a checkpoint was not whole", "cases"),
    "measure:copies_wrong": Label("values in the copy that later steps changed", "values"),
    "measure:restore_wrong": Label("parts of the training that did not come back", "parts"),
    "measure:interval_error": Label("relative error of the interval"),
    "measure:best_interval_s": Label("best time between checkpoints", "s"),
}


def label_of(name: str) -> Label:
    """Return a metric's label. A measure that a custom course defines is labelled with its name."""
    return LABELS.get(name) or Label(name.removeprefix(OWN).replace("_", " "))
