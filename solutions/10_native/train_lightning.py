"""Train a small network on MNIST with PyTorch Lightning, on any number of devices.

torchrun --nproc-per-node=2 train_lightning.py --epochs 4 --batch-size 32
"""

import argparse
import logging
import os
import warnings

import lightning
import torch
from lightning.pytorch.plugins.environments import TorchElasticEnvironment
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lessons.toolkit import data
from lessons.toolkit.record import Record, param_hash

from ranks import gather, who_am_i


def build_model(name):
    """Return mlp512 (784-512-10, 407,050 parameters) or cnn (two convolutions, 1,199,882)."""
    if name == "cnn":
        return nn.Sequential(
            nn.Unflatten(1, (1, 28)),
            nn.Conv2d(1, 32, 3),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(9216, 128),
            nn.ReLU(),
            nn.Linear(128, 10),
        )
    # No softmax at the end: CrossEntropyLoss contains it.
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))


class Images(TensorDataset):
    """A data set that is read a batch at a time, as in train.py. One by one takes longer."""

    def __getitems__(self, numbers):
        return self[numbers]


class Classifier(lightning.LightningModule):
    """The network and its training rule. The Trainer decides on which devices it runs."""

    def __init__(self, name, lr):
        super().__init__()
        self.model = build_model(name)
        self.lr = lr

    def training_step(self, batch, number):
        x, y, _ = batch  # the last tensor has the numbers of the images
        outputs = self.model(x)
        correct = (outputs.argmax(1) == y).sum()
        loss = nn.functional.cross_entropy(outputs, y)
        return {"loss": loss, "correct": correct}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


class Recorder(lightning.Callback):
    """A callback that records what Lightning does; Lightning calls its methods by name."""

    def __init__(self, record):
        self.record = record

    def on_train_start(self, trainer, module):
        self.record.begin(module.parameters())

    def on_train_epoch_start(self, trainer, module):
        self.epoch = self.record.start_epoch(steps=trainer.num_training_batches)
        self.read, self.loss_sum, self.correct = [], 0, 0

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        self.read.append(batch[2])
        self.loss_sum += outputs["loss"] * len(batch[2])
        self.correct += outputs["correct"]

    def on_train_epoch_end(self, trainer, module):
        own = torch.cat(self.read).cpu()
        for numbers in gather(own.numpy()):  # on all ranks
            self.epoch.read(numbers)
        loss, accuracy = float(self.loss_sum) / len(own), float(self.correct) / len(own)
        self.epoch.log(loss=loss, accuracy=accuracy)
        self.epoch.stop()

    def on_train_end(self, trainer, module):
        self.record.trained(module.parameters(), gather)


@torch.no_grad()
def evaluate(model, loss_function, x, y):
    """Return loss and accuracy with the current parameters."""
    model.eval()
    outputs = torch.cat([model(part) for part in x.split(1000)])
    model.train()
    loss = loss_function(outputs, y).item()
    accuracy = (outputs.argmax(1) == y).float().mean().item()
    return loss, accuracy


def command_line():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument(
        "--batch-size", "--batch_size", type=int, default=32, help="images a step, on each rank"
    )
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--test-samples", type=int, default=10000, help="test images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    warnings.filterwarnings("ignore", module="lightning")  # advice for data on disks
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    rank, size, local_rank = who_am_i()
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank)  # Lightning chooses the same one, after the record begins
    # Lightning looks for Slurm's variables even if mpirun started the ranks, so choose for it.
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(local_rank)}
    nodes = int(os.environ.get("SLURM_NNODES", "1"))
    lightning.seed_everything(args.seed, verbose=False)
    mnist = data.load("mnist", args.train_samples, args.test_samples)
    x = torch.tensor(mnist.x_train)
    y = torch.tensor(mnist.y_train, dtype=torch.long)
    x_test = torch.tensor(mnist.x_test)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    module = Classifier(args.model, args.lr)
    record = Record(
        "10",
        args,
        source="lightning-torch",
        params=sum(p.numel() for p in module.parameters()),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=local_rank,
        built=param_hash(module.parameters()),
    )
    trainer = lightning.Trainer(
        strategy="ddp",
        num_nodes=nodes,
        devices=size // nodes,
        plugins=[TorchElasticEnvironment()],
        max_epochs=args.epochs,
        callbacks=[Recorder(record)],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    images = Images(x, y, torch.arange(len(x)))  # the last one is for the record
    # Lightning adds a DistributedSampler, and calls set_epoch.
    trainer.fit(module, DataLoader(images, args.batch_size, shuffle=True, collate_fn=tuple))

    device = "cuda" if torch.cuda.is_available() else "cpu"
    loss, accuracy = evaluate(
        module.model.to(device), nn.CrossEntropyLoss(), x_test.to(device), y_test.to(device)
    )
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
    )
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
