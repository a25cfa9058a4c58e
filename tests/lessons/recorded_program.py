"""A program that trains nothing and writes a run record of lesson 02."""

PROGRAM = """
import argparse, sys
from lessons.toolkit.record import Run
args = argparse.Namespace(model="mlp512", epochs=3, batch_size=32, lr=0.001, seed=1)
facts = {"name": "mnist", "sha256": "ab", "synthetic": True, "train_samples": 64,
         "test_samples": 10}
sys.argv[0] = "train.py"
run = Run("02", args, source="keras", params=407050, dataset=facts)
for _ in range(3):
    with run.epoch() as log:
        log(steps=2, loss=0.5, accuracy=0.9)
run.end(test_loss=0.1, test_accuracy=0.98)
"""
