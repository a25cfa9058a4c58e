"""A program is complete without its few lines of the course: it trains to the same result."""

import ast
import re
import shutil
import subprocess
import sys

import pytest
from real_runs import ROOT, environment, launch, meet

SOLUTIONS = ROOT / "solutions"
SMALL = ("--train-samples", "640", "--epochs", "2", "--batch-size", "32")
CIFAR = (*SMALL, "--model", "cnn", "--size", "32", "--test-samples", "64")
# A program, its ranks (0: without a launcher), and its arguments.
PROGRAMS = [
    ("01_learning/train.py", 0, SMALL),
    ("02_serial/train.py", 0, SMALL),
    ("02_serial/train_torch.py", 0, SMALL),
    ("03_baseline/train.py", 0, CIFAR),
    ("04_feeding/train.py", 0, CIFAR),
    ("05_mirrored/train.py", 0, (*CIFAR, "--n-gpus", "2")),
    ("07_horovod/train.py", 2, SMALL),
    ("08_data/train.py", 2, ("--epochs", "2")),
    ("10_native/train.py", 2, SMALL),
    ("11_pipeline/train.py", 2, SMALL),
    ("12_scaling/train.py", 2, (*SMALL, "--model", "mlp512")),
    ("13_shard/train.py", 2, ("--ways", "zero3", "--epochs", "1", "--windows", "48")),
]
BEFORE = {"08_data": ("make_parts.py", "--train-samples", "640")}  # what makes a program's files
QUICK = "01_learning/train.py"  # the one that needs no framework
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


def results(folder, ranks, *words):
    """Return what a program prints about its test."""
    launcher = launch(ranks, "mpirun") if ranks else []
    done = subprocess.run(
        [*launcher, sys.executable, *words],
        cwd=folder, env=environ(), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return re.findall(r"Test \w+: ([\d.]+)", done.stdout)


def environ():
    return environment(PYTHONPATH=str(ROOT), **meet())


@pytest.mark.parametrize("program", [name for name, *_ in PROGRAMS])
def test_at_most_four_lines_belong_to_the_course(program):
    text, removed = stripped((SOLUTIONS / program).read_text(encoding="utf-8"))
    assert 3 <= removed <= 4
    left = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    ours = {node.module for node in left if re.match("lessons|cluster|autograder", node.module)}
    assert ours <= {f"lessons.toolkit{module}" for module in KEPT}
    assert not re.search(r"\brun\.|\blog\b|Run\b", text.partition("def main")[2])


@pytest.mark.parametrize("program", [name for name, *_ in PROGRAMS])
def test_a_program_is_short(program):
    lines = (SOLUTIONS / program).read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip() and "### " not in line]) <= 125


def marked(program, ranks, words):
    marks = [pytest.mark.ranks] * (ranks > 0) + [pytest.mark.slow] * (program != QUICK)
    return pytest.param(program, ranks, words, marks=marks, id=program)


@pytest.mark.parametrize(("program", "ranks", "words"), [marked(*each) for each in PROGRAMS])
def test_without_them_it_trains_to_the_same_result(program, ranks, words, tmp_path):
    lesson, name = program.split("/")
    for each in ("with", "without"):
        shutil.copytree(SOLUTIONS / lesson, tmp_path / each)
        if lesson in BEFORE:
            results(tmp_path / each, 0, *BEFORE[lesson])
    bare, _ = stripped((SOLUTIONS / program).read_text(encoding="utf-8"))
    (tmp_path / "without" / name).write_text(bare, encoding="utf-8")
    loss_and_accuracy = results(tmp_path / "with", ranks, name, *words)
    assert len(loss_and_accuracy) == 2
    assert results(tmp_path / "without", ranks, name, *words) == loss_and_accuracy
