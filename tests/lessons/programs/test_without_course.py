"""A program is complete without its few lines of the course: it trains to the same result."""

import ast
import re
import shutil

import pytest
from forked_runs import TORCH, run_forked
from real_runs import ROOT, run_together

SOLUTIONS = ROOT / "solutions"
SMALL = ("--train-samples", "640", "--epochs", "2", "--batch-size", "32")
FEW = ("--train-samples", "256", *SMALL[2:])
CIFAR = (*FEW, "--model", "cnn", "--size", "32", "--test-samples", "64")
# Each way to record, on one rank and on several: a program, its ranks, the library that takes long
# to load, and its arguments. The others' text is looked at, below.
TRAINED = [
    ("01_learning/train.py", 1, "numpy", SMALL),
    ("02_serial/train.py", 1, "tensorflow", SMALL),
    ("05_mirrored/train.py", 1, "tensorflow", (*CIFAR, "--n-gpus", "2")),
    ("07_horovod/train.py", 2, "horovod", SMALL),
    ("02_serial/train_torch.py", 1, "torch", SMALL),
    ("10_native/train.py", 2, "torch", SMALL),
    ("13_shard/train.py", 2, "torch", ("--ways", "zero3", "--epochs", "1", "--windows", "48")),
]
OTHERS = ("03_baseline", "04_feeding", "08_data", "11_pipeline", "12_scaling")
PROGRAMS = [*(name for name, *_ in TRAINED), *(f"{lesson}/train.py" for lesson in OTHERS)]
LOADED = {"numpy": ("numpy",), "torch": TORCH, "tensorflow": ("tensorflow", "tf_keras")}
# What a program may still import: data and ranks
KEPT = ("", ".data", ".ranks", ".ranks.leaving")


class Without(ast.NodeTransformer):
    """Remove the lines of the course, and count them."""

    def __init__(self):
        self.removed = 0

    def visit_ImportFrom(self, node):
        return None if node.module == "lessons.toolkit.record" else node

    def visit_Assign(self, node):
        return self.without(node) if calls(node.value, "Run") else self.generic_visit(node)

    def visit_Expr(self, node):
        is_ours = calls(node.value, "log") or calls(node.value, "run.end")
        return self.without(node) if is_ours else self.generic_visit(node)

    def visit_With(self, node):
        self.generic_visit(node)
        if not calls(node.items[0].context_expr, "run.epoch"):
            return node
        self.removed += 1
        return node.body

    def visit_List(self, node):  # callbacks
        others = [each for each in node.elts if not calls(each, "run.keras")]
        self.removed += len(node.elts) - len(others)
        node.elts = others
        return self.generic_visit(node)

    def without(self, node):
        self.removed += 1


def calls(node, name):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


def stripped(text):
    """Return a program without the course's lines, and how many these were."""
    without = Without()
    tree = without.visit(ast.parse(text))
    return ast.unparse(ast.fix_missing_locations(tree)), without.removed


@pytest.mark.parametrize("program", PROGRAMS)
def test_at_most_four_lines_belong_to_the_course(program):
    text, removed = stripped((SOLUTIONS / program).read_text(encoding="utf-8"))
    assert 3 <= removed <= 4
    left = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    ours = {node.module for node in left if re.match("lessons|cluster|autograder", node.module)}
    assert ours <= {f"lessons.toolkit{module}" for module in KEPT}
    assert not re.search(r"\brun\.|\blog\b|Run\b", text.partition("def main")[2])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_short(program):
    lines = (SOLUTIONS / program).read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip() and "### " not in line]) <= 125


SLOW = (pytest.mark.slow, pytest.mark.ranks)


@pytest.mark.parametrize(
    "library", ["numpy", *(pytest.param(n, marks=SLOW) for n in ("tensorflow", "horovod", "torch"))]
)
def test_without_them_they_train_to_the_same_result(library, tmp_path):
    starts = []
    for program, ranks, uses, words in TRAINED:
        lesson, name = program.split("/")
        for each in ("with", "without") if uses == library else ():
            folder = tmp_path / each / lesson
            shutil.copytree(SOLUTIONS / lesson, folder)
            if each == "without":
                bare, _ = stripped((folder / name).read_text(encoding="utf-8"))
                (folder / name).write_text(bare, encoding="utf-8")
            starts.append((ranks, (folder, folder / name, *words)))
    if library == "horovod":  # its MPI needs mpirun
        run_together(2, [(folder, program, words) for _, (folder, program, *words) in starts])
    else:
        jobs = [(ranks, [start]) for ranks, start in starts]
        run_forked(*jobs, loaded=LOADED[library], TF_USE_LEGACY_KERAS="1")
    found = [re.findall(r"Test \w+: ([\d.]+)", (folder / "job.out").read_text())
             for _, (folder, *_) in starts]  # fmt: skip
    for complete, bare, (_, (_, program, *_)) in zip(
        found[::2], found[1::2], starts[::2], strict=True
    ):
        assert len(complete) == 2, program
        assert bare == complete, program
