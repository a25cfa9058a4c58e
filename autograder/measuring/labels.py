"""Labels and units of the values that the course's own programs measure and record.

A rubric names such a value `measure:NAME`. The labels of all other metrics are in METRICS.
"""

from dataclasses import dataclass

OWN = "measure:"


@dataclass(frozen=True, slots=True)
class Label:
    """A label, and the unit of the value. An empty unit means a plain number."""

    text: str
    unit: str = ""


RECORDED: dict[str, Label] = {
    # the cluster and the network
    "facts_wrong": Label("launchers whose ranks were misread", "environments"),
    "matrix products": Label("speed of matrix products", "GFLOP/s"),
    "gradient_error": Label("relative error of the gradients"),
    "descent_error": Label("relative error of a step of gradient descent"),
    "bend": Label("deviation of the network from a straight line"),
    "step_error": Label("error after a few training steps"),
    "layers": Label("layers", "layers"),
    # reading samples
    "pixels_away": Label("mean error of a pixel"),
    "labels_right": Label("fraction of right labels"),
    "order_kept": Label("similarity of the order to that of the previous epoch"),
    "in_sequence": Label("fraction of samples in stored order"),
    "orders_of_three": Label("different orders in three epochs", "orders"),
    "order_again": Label("the same seed gives the same order (1: yes)"),
    "files": Label("packed files", "files"),
    "sizes_apart": Label("difference between the largest and the smallest file", "samples"),
    "faster_than_files": Label("how many times faster than one file per sample"),
    "epoch_over_sum": Label("epoch time / (input time + computing time)"),
    "images_twice": Label("images read by more than one rank", "images"),
    "images_missing": Label("images that no rank read", "images"),
    "images_foreign": Label("images of another rank's files", "images"),
    "ranks_that_looked": Label("ranks that listed the files", "ranks"),
    "common_steps": Label("steps that all ranks can make", "steps"),
    # exchange between ranks
    "least_busy_replica": Label("work of the least busy copy / its fair share"),
    "ranks_heard": Label("ranks whose gradients arrived", "ranks"),
    "workers_heard": Label("workers whose gradients arrived", "workers"),
    "max_steps_off": Label("difference between announced and made steps", "steps"),
    "team_left": Label("ranks left after the plugin ended"),
    "difference_to_serial": Label("difference of the parameters from one process"),
    "serial_error": Label("relative error against one process"),
    "allreduce_error": Label("error of the sum"),
    "allreduce_s": Label("time of an allreduce", "s"),
    "arrays_moved": Label("arrays sent", "arrays"),
    "share_sent": Label("arrays sent / arrays required"),
    "under_way": Label("sums started before the last array", "arrays"),
    "ring_speed": Label("the library's time / the ring's time"),
    "straggler_growth_ms": Label("longer step with a slow rank", "ms"),
    "update_error": Label("relative error of the parameter update"),
    "lars_error": Label("relative error of the LARS update"),
    "rate_error": Label("largest error of the learning rate / its peak"),
    "lr": Label("learning rate"),
    "orders_as_drawn": Label("fraction of orders that match the sampler's"),
    "accumulation_error": Label("relative error of a batch that is computed in parts"),
    "exchanges": Label("exchanges of gradients per batch"),
    "drawn_error": Label("relative error of a randomly drawn step"),
    "drawn_spread": Label("difference between ranks after a randomly drawn step"),
    "drawn_images": Label("samples that entered the network in a randomly drawn step"),
    "drawn_largest": Label("samples in the largest part of a randomly drawn step"),
    "alone_error": Label("error after a step of one rank alone"),
    "staleness_mean": Label("mean age of the gradients", "updates"),
    # parts of a network
    "params_together": Label("parameters of all ranks together", "parameters"),
    "params_twice": Label("arrays held by two ranks", "arrays"),
    "split_excess": Label("excess weight of the heaviest stage"),
    "schedule_excess": Label("idle time beyond what is necessary"),
    "schedule_held": Label("micro-batches held at once, as scheduled", "micro-batches"),
    "grid_wrong": Label("ranks in the wrong place in the grid", "ranks"),
    "held": Label("micro-batches held at once", "micro-batches"),
    "bytes_off": Label("relative difference of the bytes sent"),
    "bytes_error": Label("relative error of the formula for bytes"),
    "sizes_tried": Label("numbers of micro-batches tried"),
    "rounds_made": Label("rounds measured", "rounds"),
    "best_micro_batches": Label("fastest number of micro-batches"),
    "gain_over_wanted": Label("measured gain / required gain"),
    "pipeline_share": Label("share of what silent ranks do"),
    "pipeline_moved": Label("smallest change in the parameters"),
    "held_over_part": Label("parameters held / the rank's part"),
    "held_over_share": Label("bytes held / the rank's share"),
    "peak_bytes": Label("peak memory", "bytes"),
    "activation_bytes": Label("memory of the activations", "bytes"),
    "ranks_wrote": Label("ranks that wrote the checkpoint", "ranks"),
    "largest_share": Label("largest share of the checkpoint on one rank"),
    "next_loss": Label("test loss after one more step"),
    "memory_error": Label("largest relative error of the memory formula"),
    # the milliseconds of a step
    "own_reads": Label("share of the texts that the training process reads itself"),
    "waits": Label("how often a step waits for the device"),
    "forwards": Label("forward passes per step"),
    "update_ops": Label("operations in the optimizer's update"),
    "gain": Label("step time before / after"),
    "mfu": Label("share of the peak that the step reaches"),
    "loss_apart": Label("difference of the losses before and after"),
    "note_error": Label("error of the noted losses"),
    "flops_error": Label("relative error of the FLOPs"),
    "roofline_error": Label("relative error of the roofline"),
    "reading_error": Label("relative error of the times read from a trace"),
    "scaler_error": Label("largest difference from PyTorch's scaler"),
    "zeros": Label("share of gradients that are 0"),
    "padding_error": Label("largest difference between losses with and without padding"),
    "compilations": Label("compilations"),
    # jobs that survive
    "lives": Label("times that the job started", "lives"),
    "lost_to_kill": Label("steps lost to the worst kill", "steps"),
    "lost_to_warning": Label("steps lost to the worst warning", "steps"),
    "lost_over_interval": Label("steps lost / steps between checkpoints"),
    "read_wrong": Label("samples not read exactly once per epoch", "samples"),
    "agree_wrong": Label("cases in which ranks disagreed on a warning", "cases"),
    "files_wrong": Label("cases in which a checkpoint was not whole", "cases"),
    "copies_wrong": Label("values in the copy that later steps changed", "values"),
    "restore_wrong": Label("parts of the training that did not come back", "parts"),
    "interval_error": Label("relative error of the interval"),
    "best_interval_s": Label("best time between checkpoints", "s"),
}
