"""One step of the same global batch, on any number of ranks."""


def add_gradients(loss_of_piece, batch, rank, size, most):
    """Add this rank's share of the gradient to the parameters, and return its share of the loss.

    The sum over all ranks is the gradient of the mean loss of the whole batch.
    loss_of_piece(piece): the mean loss of a part of the batch. most: the longest piece that fits
    into a device. If a rank's part is longer, it takes several pieces, one after the other.
    """
    part = batch[rank::size]
    if size * len(part) == len(batch) and len(part) <= most:  # one piece on every rank
        loss = loss_of_piece(part) / size
        loss.backward()
        return loss.detach()
    raise NotImplementedError("Exercise 15.8: this rank's part in pieces, backward for each")
