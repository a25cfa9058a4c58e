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
    "14.5": (check.check_14_5, "fast.py", "batches"),
    "14.6": (check.check_14_6, "fast.py", "gradients"),
    "14.7": (check.check_14_7, "fast.py", "optimizer"),
    "14.8": (check.check_14_8, "fast.py", "note"),
    "14.9": (check.check_14_9, "scaling.py", "LossScaler"),
    "14.10": (check.check_14_10, "lengths.py", "padded"),
}


@pytest.fixture
def students(tmp_path, monkeypatch):
    """Return a function that returns an exercise's check and its argument, with changes."""
    monkeypatch.syspath_prepend(ROOT / "solutions" / LESSON)  # fast.py imports gpt.py
    monkeypatch.delitem(sys.modules, "gpt", raising=False)

    def get(number, *changes):
        function, file, name = CHECKS[number]
        return function, getattr(changed(tmp_path, LESSON, file, *changes), name)

    return get


def test_every_exercise_has_a_check():
    assert set(checks_of(check)) == set(CHECKS)


@pytest.mark.parametrize("number", CHECKS)
def test_the_solution_passes(number, students):
    function, student = students(number)
    function(student)


PADDED = "ids = torch.nn.functional.pad(ids, (0, more))"
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
    ("14.3", "sorted(spans)", "spans", "by their start"),
    ("14.4", "both / talking if", "1 - both / talking if", "not hidden"),
    ("14.4", "both / talking if", "both / busy(computing) if", "not by the computation"),
    ("14.5", "num_workers=2, prefetch_factor=4", "", "num_workers=0 is the default"),
    ("14.5", "num_workers=2", "num_workers=2, drop_last=True", "drop nothing"),
    ("14.5", "num_workers=2", "num_workers=2, shuffle=True", "shuffle=False"),
    ("14.6", "loss_of(model(ids), following)",
     "sum(loss_of(model(ids[n : n + 1]), following[n : n + 1]) for n in range(3)) / 3",
     "all windows at once"),
    ("14.6", "loss.backward()", "pass", "loss.backward()"),
    ("14.6", "loss.backward()", "(loss * len(ids)).backward()", "already divided"),
    ("14.6", "return loss.detach()", "return loss", "without history"),
    ("14.7", ", fused=True", "", "fused=True"),
    ("14.7", "optim.AdamW", "optim.Adam", "betas"),
    ("14.8", "norms.norm()", "torch.tensor(norms.norm().item())", ".item()"),
    ("14.8", "norms.norm()", "norms.sum()", "root of the sum"),
    ("14.8", "return torch.stack([loss, norms.norm()])", "return loss", "torch.stack"),
    ("14.9", "param.grad /= self.scale", "pass", "divide each gradient"),
    ("14.9", "if not finite:", "if not all(bool(p.grad.isfinite().all()) for p in params):",
     "one Boolean"),
    ("14.9", "return False", "pass", "do not step. Halve the scale"),
    ("14.10", PADDED, "pass", "missing columns"),
    ("14.10", "value=-100", "value=0", "ignores -100"),
    ("14.10", PADDED, PADDED.replace("))", "), value=-100)"), "pad them with 0"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of mistakes that are tried
@pytest.mark.parametrize(("number", "old", "new", "advice"), WRONG)
def test_a_mistake_has_a_name(number, old, new, advice, students):
    function, student = students(number, (old, new))
    assert_advice(failure(function, student), advice)
