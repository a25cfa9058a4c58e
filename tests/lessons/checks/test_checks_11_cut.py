"""Lesson 11's public checks of what is cut and counted: each mistake has a name."""

import functools
import types
from pathlib import Path

import pytest
from advice import ROOT, assert_advice, failure
from solution_programs import program

from lessons.toolkit.checks import lesson_11 as check
from lessons.toolkit.checks.lesson_11.fitting import CASES, bytes_needed

LESSON = ROOT / "solutions" / "11_pipeline"
memory, networks = (program("11_pipeline", name) for name in ("memory", "networks"))


def changed(name, *changes):
    """The solution's module with some of its text changed."""
    text = (LESSON / name).read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    module = types.ModuleType(Path(name).stem)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def test_the_lessons_own_functions_pass():
    layers = changed("tensor_layers.py")
    check.check_11_8(memory.memory)
    check.check_11_5(layers.cut)
    check.check_11_6(layers)
    check.check_11_7(layers.bytes_a_step)
    check.check_11_9(needs)


# Exercise 11.8
MEMORY = [
    ('"momentum": 1, "adam": 2', '"momentum": 1, "adam": 1', "Adam keeps two"),
    (
        '(precision == "mixed")',
        '((precision, optimizer) in [("mixed", "sgd"), ("mixed", "adam")])',
        "a float32 copy",
    ),
    ('"adam": 2', '"adam": 4', "parts of their own"),
    ('"adam": 2', '"adam": 0', "Adam two"),
    (' + (precision == "mixed")', "", "too coarse for small steps"),
    ('"optimizer": 4 *', '"optimizer": itemsize *', "stay float32"),
    ('"gradients": itemsize * params', '"gradients": 0', "leaves one number for each"),
    ('"mixed": 2}', '"mixed": 4}', "has 2 bytes"),
    ('"parameters": itemsize * params', '"parameters": params', "how many bytes has each"),
    ('"activations": activations,', "", "a dictionary of parameters"),
]


@pytest.mark.parametrize(("old", "new", "advice"), MEMORY)
def test_wrong_arithmetic(old, new, advice):
    assert_advice(failure(check.check_11_8, changed("memory.py", (old, new)).memory), advice)


# Exercise 11.5
CUTS = [
    ("weight.tensor_split(size)[rank], bias.", "weight.tensor_split(size, 1)[rank], bias.",
     "wrong axis"),
    ("weight.tensor_split(size, dim=1)", "weight.tensor_split(size)", "wrong axis"),
    ("(size, dim=1)[rank], bias", "(size, dim=1)[rank], bias.tensor_split(size)[rank]",
     "keep all of it"),
    ("(size, dim=1)[rank], bias", "(size, dim=1)[rank], bias / size", "7, [0.0, 0.5, 1.0]"),
    ("bias.tensor_split(size)[rank]", "bias", "like the weight's outputs"),
    ("weight.tensor_split(size)[rank], bias.", "weight, bias.", "no memory is saved"),
    ("weight.tensor_split(size)[rank], bias.", "weight[rank::size], bias.", "tensor_split"),
    ("return weight.tensor_split(size, dim=1)[rank], bias", "pass", "Is there a `return`?"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), CUTS)
def test_wrong_cuts(old, new, advice):
    wrong = changed("tensor_layers.py", (old, new))
    assert_advice(failure(check.check_11_5, wrong.cut), advice)


# Exercise 11.6
BLOCKS = [
    ("return summed(gradient)", "return gradient", "only the gradient from this rank's part"),
    ("ToParts.apply(x)", "x", "only the gradient from this rank's part"),
    ("        return gradient\n", "        return summed(gradient)\n", "p times too large"),
    ("        return gradient\n", "        return gradient / dist.get_world_size()\n",
     "p times too small"),
    ("linear(hidden, row[0])) + row[1]", "linear(hidden, *row))", "added on every rank"),
    ("linear(hidden, row[0])) + row[1]", "linear(hidden, row[0], row[1] / dist.get_world_size()))",
     "p times too small"),
    (" + row[1]", "", "row layer's bias is missing"),
    ("FromParts.apply(linear(hidden, row[0]))", "linear(hidden, row[0])", "only this rank's part"),
    ("return summed(part)", "return part.view_as(part)", "only this rank's part"),
    ("return summed(part)", "return summed(part) / dist.get_world_size()", "gives a mean"),
    ("torch.relu(linear(ToParts.apply(x), *column))", "linear(ToParts.apply(x), *column)",
     "relu between the layers is missing"),
    ("linear(ToParts.apply(x), *column)", "linear(ToParts.apply(x), column[0])",
     "column layer's bias is missing"),
    ("return FromParts.apply(linear(hidden, row[0])) + row[1]",
     "return torch.relu(FromParts.apply(linear(hidden, row[0])) + row[1])", "between blocks"),
    ("return FromParts.apply(linear(hidden, row[0])) + row[1]", "return hidden",
     "output of both layers"),
    ("return FromParts.apply(linear(hidden, row[0])) + row[1]",
     "return (FromParts.apply(linear(hidden, row[0])) + row[1]).detach()", "does not require grad"),
    ("return summed(part)",
     "return summed(part) if dist.get_rank() else part.view_as(part)", "every rank has to call"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), BLOCKS)
def test_wrong_blocks(old, new, advice, monkeypatch):
    monkeypatch.setattr("lessons.toolkit.checks.shared.ranks_as_threads.PATIENCE", 0.5)
    wrong = changed("tensor_layers.py", (old, new))
    real = wrong.dist
    assert_advice(failure(check.check_11_6, wrong), advice)
    assert wrong.dist is real


def test_what_is_wrong_is_shown_where_it_is():
    wrong = changed("tensor_layers.py", ("return summed(gradient)", "return gradient"))
    _, expected, found, _ = failure(check.check_11_6, wrong).lines()
    assert expected.rpartition(" is ")[2] != found.removeprefix("found").strip()


def test_a_bias_that_rank_0_alone_adds_is_right_as_well():
    check.check_11_6(changed("tensor_layers.py", (
        "linear(hidden, row[0])) + row[1]",
        "linear(hidden, row[0], None if dist.get_rank() else row[1]))",
    )))  # fmt: skip


# Exercise 11.7
BYTES = [
    ("2 * (ranks - 1) / ranks * numbers", "numbers", "2 (p - 1) / p"),
    ("* numbers * itemsize", "* numbers", "`itemsize` bytes"),
    ("2 * (ranks - 1)", "(ranks - 1)", "twice"),
    ("(i + 1) * o", "i * o", "Biases"),
    (" + sum(sizes[2:-1:2])", "", "forward pass"),
    ("sum(sizes[2:-1:2])", "sum(sizes[:-1:2])", "Nobody needs the gradient of the images"),
    (
        "sum(sizes[2::2]) + sum(sizes[2:-1:2])",
        "sum(sizes[1:]) + sum(sizes[1:-1])",
        "Once per block",
    ),
    ("sum(sizes[2::2])", "sum(sizes[1:])", "outputs of blocks"),
    ("batch * (sum", "(sum", "every image"),
    ("batch * (sum", "batch / ranks * (sum", "whole batch"),
]


@pytest.mark.parametrize(("old", "new", "advice"), BYTES)
def test_wrong_bytes(old, new, advice):
    wrong = changed("tensor_layers.py", (old, new))
    assert_advice(failure(check.check_11_7, wrong.bytes_a_step), advice)


# Exercise 11.9
def needs(network, way, **changed):
    """As the lesson has it; `changed` are terms of the sum with a mistake in them."""
    parts = memory.memory(network.params, network.optimizer, 0, network.precision)
    state, p = sum(parts.values()), network.devices
    largest = network.largest / network.params
    layer = largest * (parts["parameters"] + parts["gradients"])
    stage = max(largest, -(-network.layers // p) / network.layers)
    held = {"shard": state / p + layer, "pipeline": state * stage, "tensor": state / p}
    terms = {"network": network, "parts": parts, "state": state, "p": p, "largest": largest}
    held |= {name: term(**terms) for name, term in changed.items() if name != "images"}
    images = changed.get("images", lambda network, way: network.batch if way == "data" else 1)
    return held.get(way, state) + network.image_bytes * images(network, way)


NEEDS = [
    ({"images": lambda network, way: network.batch}, "its whole batch, otherwise of one image"),
    ({"images": lambda network, way: 1}, "its whole batch, otherwise of one image"),
    ({"images": lambda network, way: 0}, "The activations are missing"),
    ({"shard": lambda state, p, **_: state / p}, "While a layer computes"),
    (
        {"shard": lambda state, p, largest, parts, **_: state / p + largest * parts["parameters"]},
        "gradients are there as well",
    ),
    ({"shard": lambda state, p, largest, **_: state / p + largest * state}, "stays in its shards"),
    ({"shard": lambda state, **_: state}, "only its share of the state"),
    ({"pipeline": lambda state, p, **_: state / p}, "Layers are not cut"),
    ({"pipeline": lambda state, largest, **_: state * largest}, "rounded up"),
    (
        {
            "pipeline": lambda state, network, p, **_: (
                state * -(-network.layers // p) / network.layers
            )
        },
        "take the maximum",
    ),
    ({"tensor": lambda **_: 0}, "the activations alone"),
    ({"tensor": lambda state, **_: state}, "word by word"),
]


@pytest.mark.parametrize(("mistake", "advice"), NEEDS)
def test_wrong_needs(mistake, advice):
    wrong = functools.partial(needs, **mistake)
    assert_advice(failure(check.check_11_9, wrong), advice)


FIRST = {
    "a": ("data", 11.8272),
    "b": ("accumulate", 22.3),
    "c": ("shard", 19),
    "d": ("tensor", 41.3),
    "e": ("pipeline", 13),
}


def test_the_first_way_that_fits_each_network():
    found = {name: networks.fits(each, needs) for name, each in networks.NETWORKS.items()}
    assert {name: (way, much / 1e9) for name, (way, much) in found.items()} == {
        name: (way, pytest.approx(much)) for name, (way, much) in FIRST.items()
    }
    for network in networks.NETWORKS.values():  # none is a matter of a few percent
        for way in networks.WAYS:
            assert not 0.97 < needs(network, way) / network.device_bytes < 1.03


def test_the_networks_of_the_check_have_the_lessons_fields():
    for case in CASES:
        assert set(vars(case)) == set(networks.Network._fields)
        assert bytes_needed(case, "data") == needs(case, "data")
