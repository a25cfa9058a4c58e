"""Count the floating point operations of a step, and what a device can reach."""


def step_flops(params, layers, width, length, tokens):
    """Return the floating point operations of a step: forward and backward pass.

    `params` are the parameters that are multiplied with each token. `tokens` is the number of all
    characters in the batch, `length` that of a window.
    """
    raise NotImplementedError(
        "Exercise 14.1: the parameters' products and attention's, forward and backward"
    )


def attainable(rows, inner, columns, peak, bandwidth):
    """Return the FLOP/s that a product of (rows × inner) and (inner × columns) can reach.

    `peak` is in FLOP/s, `bandwidth` in bytes/s. Each of the three float32 matrices is moved once.
    """
    raise NotImplementedError("Exercise 14.2: FLOP per moved byte, and the roof there")
