"""Train a small network on MNIST with PyTorch Lightning, on any number of devices.

torchrun --nproc-per-node=2 train_lightning.py --epochs 4 --batch-size 32
"""

import logging
import os
import warnings
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser

import lightning
import torch
import torch.distributed as dist
from lightning.pytorch.plugins.environments import TorchElasticEnvironment
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from lessons.toolkit import data
from lessons.toolkit.record import Run

from ranks import who_am_i
from train import build_model, evaluate


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
        x, y = batch
        outputs = self.model(x)
        correct = (outputs.argmax(1) == y).sum()
        loss = nn.functional.cross_entropy(outputs, y)
        return {"loss": loss, "correct": correct}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


class Recorder(lightning.Callback):
    """A callback that records what Lightning does; Lightning calls its methods by name."""

    def __init__(self, args):
        self.args = args

    def on_train_start(self, trainer, module):
        self.run = Run("10", self.args, module.model, source="lightning-torch")

    def on_train_epoch_start(self, trainer, module):
        self.run.start_epoch()
        self.loss_sum, self.right, self.images = 0, 0, 0

    def on_train_batch_end(self, trainer, module, outputs, batch, number):
        self.loss_sum += outputs["loss"] * len(batch[0])
        self.right += outputs["correct"]
        self.images += len(batch[0])

    def on_train_epoch_end(self, trainer, module):
        self.run.log(loss=self.loss_sum / self.images, accuracy=self.right / self.images)
        self.run.stop_epoch()


def command_line():
    parser = ArgumentParser(description=__doc__, formatter_class=ArgumentDefaultsHelpFormatter)
    parser.add_argument("--model", default="mlp512", choices=["mlp512", "cnn"], help="the network")
    parser.add_argument("--epochs", type=int, default=4, help="passes over the training images")
    parser.add_argument("--batch-size", type=int, default=32, help="images a step, on each rank")
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    args = command_line().parse_args()

    warnings.filterwarnings("ignore", module="lightning")  # advice for data on disks
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    rank, size, local_rank = who_am_i()
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank)  # Lightning chooses the same one, after the record begins
    # Lightning looks for Slurm's variables even if mpirun started the ranks, so choose for it.
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(local_rank)}
    nodes = int(os.environ.get("SLURM_NNODES", "1"))
    lightning.seed_everything(args.seed, verbose=False)
    mnist = data.load("mnist", args.train_samples)
    train_set = Images(torch.tensor(mnist.x_train), torch.tensor(mnist.y_train))
    test_set = Images(torch.tensor(mnist.x_test), torch.tensor(mnist.y_test))
    loader = DataLoader(train_set, args.batch_size, shuffle=True, collate_fn=tuple)
    test_loader = DataLoader(
        test_set, 1000, sampler=range(rank, len(test_set), size), collate_fn=tuple
    )

    module, recorder = Classifier(args.model, args.lr), Recorder(args)
    trainer = lightning.Trainer(
        strategy="ddp",
        num_nodes=nodes,
        devices=size // nodes,
        plugins=[TorchElasticEnvironment()],
        max_epochs=args.epochs,
        callbacks=[recorder],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, loader)  # adds a DistributedSampler, and calls set_epoch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = module.model.to(device)
    loss, accuracy = evaluate(network, test_loader, nn.CrossEntropyLoss(), device)
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    recorder.run.end(test_loss=loss, test_accuracy=accuracy)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
