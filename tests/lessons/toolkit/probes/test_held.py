"""Tests of the bytes that PyTorch holds."""

import torch

from lessons.toolkit.probes.held import bytes_of, saved_for_backward
from lessons.toolkit.probes.tensors import bytes_off


def test_tensors_that_share_memory_count_once():
    tensor = torch.zeros(10, dtype=torch.float64)
    assert bytes_of([tensor, tensor[2:5], tensor.view(2, 5)]) == 80
    assert bytes_of([tensor, torch.zeros(3, dtype=torch.bfloat16)]) == 86
    assert bytes_of([]) == 0


def test_what_is_kept_for_the_backward_pass_is_counted_and_let_go():
    layer = torch.nn.Linear(6, 4)
    x = torch.randn(5, 6)
    with saved_for_backward(layer.parameters()) as kept:
        hidden = torch.relu(layer(x))
        assert kept["now"] == 4 * (5 * 6 + 5 * 4)  # x and what relu gave; no weights
        (hidden * 2).sum().backward()
        assert kept["most"] == kept["now"] + 4 * (5 * 6 + 5 * 4)
    del hidden
    assert kept["now"] == 0


def test_bytes_of_a_ring_by_hand():
    sizes = [6, 4, 5, 4, 3]
    # forward 5 and 3 for each image, backward 5: the images need no gradient
    assert bytes_off(9 * 13 * 8, sizes, 9, 2, 8) == 0
    assert bytes_off(1.5 * 9 * 13 * 4, sizes, 9, 4, 4) == 0
