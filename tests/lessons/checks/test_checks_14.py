"""Lesson 14's public checks: the solution passes, and each usual mistake gets its advice."""

import sys

import pytest
from advice import ROOT, assert_advice, changed, failure

from lessons.toolkit.checks import lesson_14 as check
from lessons.toolkit.checks.shared.check import checks_of

LESSON = "14_profile"
CHECKS = {  # exercise -> its check, the file, and what of it the check takes
    "14.1": (check.check_14_1, "flops.py", "step_flops"),
    "14.2": (check.check_14_2, "flops.py", "attainable"),
    "14.3": (check.check_14_3, "reading.py", "busy"),
    "14.4": (check.check_14_4, "reading.py", "hidden"),
    "14.5": (check.check_14_5, "fast.py", None),
    "14.6": (check.check_14_6, "scaling.py", "LossScaler"),
}


@pytest.fixture
def students(tmp_path, monkeypatch):
    """Return a function that returns an exercise's check and its argument, with changes."""
    monkeypatch.syspath_prepend(ROOT / "solutions" / LESSON)  # fast.py imports gpt.py
    monkeypatch.delitem(sys.modules, "gpt", raising=False)

    def get(number, *changes):
        function, file, name = CHECKS[number]
        program = changed(tmp_path, LESSON, file, *changes)
        return function, getattr(program, name) if name else program

    return get


def test_every_exercise_has_a_check():
    assert set(checks_of(check)) == {*CHECKS, "14.7"}


@pytest.mark.parametrize("number", CHECKS)
def test_the_solution_passes(number, students):
    function, student = students(number)
    function(student)


WRONG = [
    ("14.1", "return products + attention", "return products", "which have no parameters"),
    ("14.1", "6 * params", "2 * params", "two products for each one"),
    ("14.1", "3 * layers", "layers", "has a backward pass"),
    ("14.1", "3 * layers * ", "3 * ", "Each layer"),
    ("14.2", "min(peak, ", "max(peak, ", "limited by the bandwidth"),
    ("14.2", "return min(peak, flops / moved * bandwidth)", "return flops / moved * bandwidth",
     "faster than the peak"),
    ("14.2", "moved = 4 * ", "moved = ", "4 bytes"),
    ("14.3", "max(end - max(start, covered), 0)", "end - start", "counts only once"),
    ("14.3", "max(covered, end)", "end", "remember the latest end"),
    ("14.4", "max(covered, end)", "end", "at least one of the two"),
    ("14.3", "sorted(spans)", "spans", "by their start"),
    ("14.4", "both / talking if", "1 - both / talking if", "not hidden"),
    ("14.4", "both / talking if", "both / busy(computing) if", "not by the computation"),
    ("14.5", "num_workers=2, prefetch_factor=4", "", "nobody else reads"),
    ("14.5", "num_workers=2", "num_workers=2, drop_last=True", "drop nothing"),
    ("14.5", "num_workers=2", "num_workers=2, shuffle=True", "keep their order"),
    ("14.5", "loss_of(model(ids), following)",
     "sum(loss_of(model(ids[n : n + 1]), following[n : n + 1]) for n in range(3)) / 3",
     "many windows at once"),
    ("14.5", "loss.backward()", "pass", "gradients of that mean"),
    ("14.5", "loss.backward()", "(loss * len(ids)).backward()", "gradients of that mean"),
    ("14.5", "return loss.detach()", "return loss", "without history"),
    ("14.5", ", fused=True", "", "the fewest operations"),
    ("14.5", "optim.AdamW", "optim.Adam", "betas"),
    ("14.5", "norms.norm()", "torch.tensor(norms.norm().item())", "a Python number"),
    ("14.5", "norms.norm()", "norms.sum()", "root of the sum"),
    ("14.5", "return torch.stack([loss, norms.norm()])", "return loss", "two numbers"),
    ("14.6", "param.grad /= self.scale", "pass", "divide each gradient"),
    ("14.6", "for param in params:", "for param in params[:1]:", "divide each gradient"),
    ("14.6", "for param in params])", "for param in params[:1]])", "do not step. Halve the scale"),
    ("14.6", "if not finite:", "if not all(bool(p.grad.isfinite().all()) for p in params):",
     "one Boolean"),
    ("14.6", "return False", "pass", "do not step. Halve the scale"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of mistakes that are tried
@pytest.mark.parametrize(("number", "old", "new", "advice"), WRONG)
def test_a_mistake_has_a_name(number, old, new, advice, students):
    function, student = students(number, (old, new))
    assert_advice(failure(function, student), advice)


def test_a_report_needs_four_parts_and_numbers():
    words = "Ten words are the fewest that a part may have, here."
    check.check_14_7(words, f"{words} 1.2", words, words)
    assert_advice(failure(check.check_14_7, words, words, words, words), "the rounds")
    assert_advice(failure(check.check_14_7, words, f"{words} 1", "", words), "which bars")
