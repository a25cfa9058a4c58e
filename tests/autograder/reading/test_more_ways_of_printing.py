"""Other people's ways of printing, in our own words; each was misread once, or could have been."""

import pytest

from autograder.reading.plain_summary import summary
from tests.autograder.reading.test_ways_of_printing import NOT, each, read

BAR = "%|##  | {}/90 [00:0{}<00:09]"
LIMIT = "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT"
METERS = "eta: 0:01:02  loss: 0.9 (0.N)  time: 0.1  data: 0.0  max mem: 9"
MORE_WAYS: dict[str, tuple[str, dict]] = {
    "a check after so many steps": (
        each("iter N0: loss 0.N, time 5.00ms") + "step 30: train loss 0.7, val loss 0.8\n"
        "iter 40: loss 0.25, time 5.00ms\niter 50: loss nan, time 5.00ms\n",
        {"format": "steps", "final_train_loss": NOT, "workers": NOT},
    ),
    "steps right behind the epoch": (
        each("| epoch 001:   N00 / 900 loss=0.N, wall=80"),
        {"epochs": NOT, "final_train_loss": 0.3, "outcome": "incomplete"},
    ),
    "steps right behind the epoch, after a comma": (
        each("Epoch  1, N00/900; acc: 4.N; ppl: 12.5; 9 s elapsed"),
        {"epochs": NOT, "epoch_seconds": []},
    ),
    "a check on the way, and more steps": (
        "epoch 1: 100 / 900 loss=0.9\nepoch 1 | valid_loss 0.8\nepoch 1: 200 / 900 loss=0.7\n",
        {"epochs": NOT, "final_train_loss": 0.7},
    ),
    "right ones of so many are no steps": (
        each("Epoch N: 88/90 correct, loss: 0.N"),
        {"epochs": 3, "final_train_loss": 0.3},
    ),
    "an epoch's bar that is not whole": (
        each("epoch:1 loss:0.N: N0" + BAR.format("N", "N")),
        {"epochs": NOT, "final_train_loss": 0.3, "outcome": "incomplete"},
    ),
    "a line for the check that only some words tell apart": (
        each("| epoch N | loss 0.N | lr 0.1\n| epoch N | valid on all | loss 0.8 | lr 0.1"),
        {"workers": NOT, "final_train_loss": 0.3, "epochs": 3},
    ),
    "a running loss, several times in an epoch": (
        each("Epoch N loss: 0.9N\nEpoch N loss: 0.8N\nEpoch N loss: 0.7N"),
        {"workers": NOT, "final_train_loss": 0.73},
    ),
    "a check that comes three times in an epoch is three ranks'": (
        each(3 * "Epoch N loss: 0.9N val_loss: 0.8N\n"),
        {"workers": 3, "epochs": 3},
    ),
    "two programs' lines are no ranks": (
        each("Epoch N generator loss: 0.5\nEpoch N critic loss: 0.N"),
        {"workers": NOT},
    ),
    "bars of an epoch say nothing of the next": (
        each("   N/99   1.5G  0.07  640: 100%|####| 90/90 [00:0N<00:00]"),
        {"format": "bars", "outcome": "unknown"},
    ),
    "several whole bars": (
        each("100%|####| 90/90 [00:0N<00:00, 9.0it/s]"),
        {"format": "bars", "outcome": "unknown"},
    ),
    "the same bar twice": (
        each("100%|####| 90/90 [00:05<00:00, 9.0it/s]"),
        {"format": "bars", "outcome": "completed"},
    ),
    "epochs of a way that nobody knows, and a test": (
        each("end of EPOCH N, rate 0.1") + "Accuracy of the network on the 50 test images: 48.4%\n",
        {"format": "unknown", "outcome": "unknown", "test_accuracy": 0.484},
    ),
    "bars that go on after the time limit": (
        each("Epoch 7:  N0" + BAR.format("N0", "N").replace("]", ", 9.0it/s, loss=0.N]"))
        + f"{LIMIT}\nEpoch 7:  44%|##  | 40/90 [00:05<00:09, 9.0it/s, loss=0.4]\n",
        {"outcome": "timeout", "final_train_loss": 0.4},
    ),
    "what a launcher says of each rank": (
        "Traceback (most recent call last):\n  x()\nRuntimeError: CUDA error: out of memory\n"
        + each("Killing subprocess 471N", range(8)),
        {"outcome": "oom"},
    ),
    "a time ahead of the rank": (
        "2026-03-10T13:17:11.883Z: [1,0]<stderr>:Traceback (most recent call last):\n"
        '2026-03-10T13:17:11.883Z: [1,0]<stderr>:  File "x.py", line 3\n'
        "2026-03-10T13:17:11.884Z: [1,0]<stderr>:OSError: no such image\n",
        {"outcome": "failed"},
    ),
    "the epoch behind its values": (
        each('{"train_lr": 0.1, "train_loss": 0.N, "test_acc1": 7N.5, "epoch": N}'),
        {"epochs": 3, "final_train_loss": 0.3, "final_val_accuracy": 0.735},
    ),
    "brackets around both": (
        each("Epoch: [N]/[3], test accuracy: 7N.5 %"),
        {"epochs": 3, "outcome": "completed", "test_accuracy": 0.735},
    ),
    "what is measured on, behind the epoch's name": (
        each("Epoch(train)  [N][10/10]  lr: 0.1  loss: 0.N\nEpoch(val)  [N][4/4]  accuracy: 0.5"),
        {"final_train_loss": 0.3, "final_val_accuracy": 0.5, "final_train_accuracy": NOT},
    ),
    "meters with their means, and a clock": (
        each(
            f"Epoch: [N]  [ 0/31]  {METERS}\nEpoch: [N]  [30/31]  {METERS}\n"
            "Epoch: [N] Total time: 0:00:0N (0.2 s / it)\n* Acc@1 5N.0 Acc@5 60.0 loss 1.2",
            (0, 1, 2),
        ),
        {
            "format": "torch-imagenet",
            "epochs": 3,
            "epoch_seconds": [0.5, 1.5, 2.5],
            "final_train_loss": 0.2,
            "final_val_accuracy": 0.52,
        },
    ),
    "meters between tabs": (
        each(
            "INFO Train: [N/9][30/31]\teta 0:00:01 lr 0.1\ttime 0.1 (0.5)\tloss 0.9 (0.N)\n"
            "INFO EPOCH N training takes 0:01:0N\nINFO  * Acc@1 5N.0 Acc@5 60.0",
            (0, 1),
        ),
        {"epochs": 2, "epoch_seconds": [60.5, 61.5], "outcome": "incomplete"},
    ),
    "the best of all epochs is not the last one's": (
        each("Epoch N: loss 0.N best val acc 0.95"),
        {"final_train_loss": 0.3, "final_val_accuracy": NOT},
    ),
    "names before colons and before blanks": (
        each("Epoch N: train loss 2.N train acc: 0.1, val loss: 1.9 val acc 0.N."),
        {"final_train_loss": 2.3, "final_train_accuracy": 0.1, "final_val_accuracy": 0.3},
    ),
    "a rate ahead of the step": (
        each(" samples/sec: 7.N | iteration  N/ 9 | lm_loss: 1.1E+01 |"),
        {"throughput": 7.25, "final_train_loss": 11},
    ),
    "a name that ends with a number": (
        each("Epoch N: test acc 1: 6N.2, test acc 5: 88.0"),
        {"final_val_accuracy": 0.632, "test_accuracy": 0.632},
    ),
    "a column whose name ends with a number": (
        "epoch,train_loss,val_loss,val_acc_1,time\n1,0.5,0.6,0.612,10.5\n2,0.4,0.5,0.632,10.4\n",
        {"final_val_accuracy": 0.632, "epoch_seconds": [10.5, 10.4]},
    ),
    "a loss of the validation before blanks, then an accuracy": (
        each("Epoch N train_loss 0.4 val_loss 0.5 acc 0.N"),
        {"final_val_accuracy": 0.3, "final_train_accuracy": NOT},
    ),
    "the next name is no unit": (
        each("Epoch N: train loss 0.41 acc 0.N sec 12.3"),
        {"final_train_accuracy": 0.3, "final_train_loss": 0.41},
    ),
    "Keras' other accuracies": (
        each("Epoch N/3\n9/9 - 1s - loss: 1.2 - masked_accuracy: 0.N - val_masked_accuracy: 0.4"),
        {"final_train_accuracy": 0.3, "final_val_accuracy": 0.4},
    ),
    "another loss ahead of Keras' own": (
        each("Epoch N/3\n9/9 - 1s - accuracy: 0.9 - cross_entropy: 0.5 - loss: 0.N"),
        {"final_train_loss": 0.3},
    ),
    "a meter of fractions": (
        each("Epoch: [N][391/391]\tTime 0.1 (0.1)\tLoss 0.5 (0.6)\tAcc 0.45 (0.44)"),
        {"final_train_loss": 0.6, "final_train_accuracy": NOT},
    ),
    "the first of two columns of times": (
        "epoch  train time  train loss  test acc  total time\n"
        "1  13.5  1.2  0.61  14.2\n2  13.4  0.9  0.72  27.6\n3  13.4  0.8  0.74  41.0\n",
        {"epoch_seconds": [13.5, 13.4, 13.4]},
    ),
    "so many epochs in so many hours": (
        "2 epochs completed in 0.470 hours.\n",
        {"outcome": "completed"},
    ),
}


@pytest.mark.parametrize("way", MORE_WAYS)
def test_more_ways_of_printing_are_read_for_what_they_say(way):
    text, says = MORE_WAYS[way]
    (run,) = read(text)
    found = summary(run)
    for field, value in says.items():
        assert found[field] == (value if value is None else pytest.approx(value)), field


def test_mixed_lines_of_ranks_are_not_counted():
    lines = ("Time cost=10.7", "Train-accuracy=0.9")
    mixed = "".join(f"Epoch[9] {lines[part]}\n" for part in (0, 1, 0, 1, 1, 0, 0))
    assert all(run.workers is None for run in read(mixed))
