"""Lesson 11's public checks of what is cut, counted, pruned and stale: each mistake has a name."""

import types
from pathlib import Path

import pytest
from advice import ROOT, assert_advice, failure
from solution_programs import program

from lessons.toolkit.checks import lesson_11 as check
from lessons.toolkit.checks.lesson_11.fitting import CASES, WAYS, needs, right_way

LESSON = ROOT / "solutions" / "11_pipeline"
memory, prune = (program("11_pipeline", name) for name in ("memory", "prune"))


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
    check.check_11_8(memory)
    check.check_11_8b({name: right_way(case) for name, case in CASES.items()})
    check.check_11_8c(prune.prune)
    check.check_11_5(layers.cut)
    check.check_11_6(layers)
    check.check_11_7(layers.bytes_a_step)
    check.check_11_9(seen)


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
    ("batch * itemsize * most", "batch * most", "`itemsize` bytes"),
    ("batch * itemsize * most", "itemsize * most", "every image of the batch"),
    ("begins + sum(sizes[first + 1 :", "sum(sizes[first + 1 :", "layer 1's gradient needs them"),
    ("every = every or layers", "every = layers", "only what goes into each part"),
    ("most = max(most, begins +", "most = max(most, sum(sizes[:-1:every]) +", "is then gone"),
    ("first + every + 1]", "first + every]", "The scores are kept"),
    (
        "    layers = len(sizes) - 1",
        "    layers = len(sizes) - 1\n    if every:\n        into = sizes[:-1]"
        "\n        most = max(sum(into[i + 1 : i + every]) for i in range(0, layers, every))"
        "\n        return batch * itemsize * (sum(into[::every]) + most)",
        "these are the scores",
    ),
]


@pytest.mark.parametrize(("old", "new", "advice"), MEMORY)
def test_wrong_arithmetic(old, new, advice):
    assert_advice(failure(check.check_11_8, changed("memory.py", (old, new))), advice)


# Exercise 11.8b
RIGHT = {
    "a": "data", "b": "accumulate", "c": "pipeline", "d": "tensor", "e": "offload", "f": "prune",
}  # fmt: skip
DECISIONS = [
    ({"a": "tensor"}, "something that costs less fits"),
    ({"b": "data"}, "would need 68.8 GB"),
    ({"c": "accumulate"}, "not against the state"),
    ({"d": "pipeline"}, "how large is the largest"),
    ({"e": "tensor"}, "There is one device"),
    ({"e": "pipeline"}, "There is one device"),
    ({"f": "pipeline"}, "There is one device"),
    ({"f": "offload"}, "'offload': no way here"),
    ({"f": "data"}, "no gradients"),
    ({"e": "prune"}, "Training needs all of the state"),
    ({"a": "copies"}, "Check the word"),
]


def test_the_cases_are_what_the_lesson_means():
    assert {name: right_way(case) for name, case in CASES.items()} == RIGHT
    assert set(RIGHT.values()) == set(WAYS)
    for name, case in CASES.items():  # none is a matter of a few percent
        assert not any(0.97 < needs(case, way) / case.device < 1.03 for way in WAYS), name


@pytest.mark.parametrize(("change", "advice"), DECISIONS)
def test_wrong_decisions(change, advice):
    assert_advice(failure(check.check_11_8b, RIGHT | change), advice)


def test_decisions_are_words_for_all_cases():
    assert_advice(failure(check.check_11_8b, {"a": "data"}), "a word for each of a, b, c")
    assert_advice(failure(check.check_11_8b, None), "A dictionary")


# Exercise 11.8c
KEPT = "torch.where(weight.abs() > limit, weight, 0.0)"
EACH = "torch.where(weight.abs() > weight.abs().flatten().sort().values[round(share * weight.numel()) - 1], weight, 0.0)"  # noqa: E501
PRUNED = [
    (
        ("weight.abs().flatten()", "weight.flatten()"),
        ("weight.abs() >", "weight >"),
        "-10 is large",
    ),
    ((KEPT, EACH), "One limit for all matrices"),
    (("[round(share *", "[round((1 - share) *"), "what goes, not what stays"),
    (("len(magnitudes)) - 1]", "len(magnitudes))]"), "is the limit itself removed"),
    ((KEPT, "weight.abs() > limit"), "not masks"),
    ((KEPT, "torch.where(weight.abs() > share * 10, weight, 0.0)"), "not of the largest"),
    ((KEPT, "weight.mul_(weight.abs() > limit)"), "begins from the same weights"),
    (
        (".sort().values", ".sort(descending=True).values"),
        ("weight.abs() > limit", "weight.abs() < limit"),
        "the largest",
    ),
]


@pytest.mark.parametrize("row", PRUNED)
def test_wrong_pruning(row):
    *changes, advice = row
    wrong = changed("prune.py", *changes)
    assert_advice(failure(check.check_11_8c, wrong.prune), advice)


# Exercise 11.5
CUTS = [
    ("weight.tensor_split(size)[rank], bias.", "weight.tensor_split(size, 1)[rank], bias.",
     "wrong axis"),
    ("weight.tensor_split(size, dim=1)", "weight.tensor_split(size)", "wrong axis"),
    ("(size, dim=1)[rank], bias", "(size, dim=1)[rank], bias.tensor_split(size)[rank]",
     "keep all of it"),
    ("(size, dim=1)[rank], bias", "(size, dim=1)[rank], bias / size", "7, [0.0, 0.5, 1.0]"),
    ("bias.tensor_split(size)[rank]", "bias", "cut it as the weight's outputs"),
    ("weight.tensor_split(size)[rank], bias.", "weight, bias.", "nothing fits better"),
    ("weight.tensor_split(size)[rank], bias.", "weight[rank::size], bias.", "tensor_split"),
    ("return weight.tensor_split(size, dim=1)[rank], bias", "pass", "Is there a `return`?"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "advice"), CUTS)
def test_wrong_cuts(old, new, advice):
    wrong = changed("tensor_layers.py", (old, new))
    assert_advice(failure(check.check_11_5, wrong.cut), advice)


# Exercise 11.6
BLOCKS = [
    ("return summed(gradient)", "return gradient", "only what this rank's part sends back"),
    ("ToParts.apply(x)", "x", "only what this rank's part sends back"),
    ("        return gradient\n", "        return summed(gradient)\n", "p times too large"),
    ("        return gradient\n", "        return gradient / dist.get_world_size()\n",
     "p times too small"),
    ("linear(hidden, row[0])) + row[1]", "linear(hidden, *row))", "added on every rank"),
    ("linear(hidden, row[0])) + row[1]", "linear(hidden, row[0], row[1] / dist.get_world_size()))",
     "p times too small"),
    (" + row[1]", "", "bias is missing: row[1]"),
    ("FromParts.apply(linear(hidden, row[0]))", "linear(hidden, row[0])", "this rank's part alone"),
    ("return summed(part)", "return part.view_as(part)", "this rank's part alone"),
    ("return summed(part)", "return summed(part) / dist.get_world_size()", "is a mean"),
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
    (" + sum(sizes[2:-1:2])", "", "That is the forward pass"),
    ("sum(sizes[2:-1:2])", "sum(sizes[:-1:2])", "Nobody needs the gradient of the images"),
    ("sum(sizes[2::2]) + sum(sizes[2:-1:2])", "sum(sizes[1:]) + sum(sizes[1:-1])", "Once a block"),
    ("sum(sizes[2::2])", "sum(sizes[1:])", "Only what leaves a block"),
    ("batch * (sum", "(sum", "every image"),
    ("batch * (sum", "batch / ranks * (sum", "whole batch"),
]


@pytest.mark.parametrize(("old", "new", "advice"), BYTES)
def test_wrong_bytes(old, new, advice):
    wrong = changed("tensor_layers.py", (old, new))
    assert_advice(failure(check.check_11_7, wrong.bytes_a_step), advice)


# Exercise 11.9
def seen(micro_batch, stage, stages, stashing):
    forward = max(0, micro_batch - (stages - 1 - stage))
    return forward, forward if stashing else micro_batch


VERSIONS = [
    (
        lambda k, s, p, stash: (k - (p - 1 - s), k - (p - 1 - s) if stash else k),
        "no version before 0",
    ),
    (lambda k, s, p, stash: (seen(k, s, p, stash)[0], k), "same version"),
    (lambda k, s, p, stash: (seen(k, s, p, stash)[0],) * 2, "Without stashing"),
    (lambda k, s, p, stash: (max(0, k - s), k), "Turn it round"),
    (lambda k, s, p, stash: (max(0, k - (p - s)), k), "nothing is stale"),
    (lambda k, s, p, stash: (k, k), "no pipeline"),
    (lambda k, s, p, stash: (0, 0), "Draw 1F1B"),
    (lambda k, s, p, stash: None, "return"),
]


@pytest.mark.parametrize(("wrong", "advice"), VERSIONS)
def test_wrong_versions(wrong, advice):
    assert_advice(failure(check.check_11_9, wrong), advice)
