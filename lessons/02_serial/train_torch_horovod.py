"""train_torch.py on any number of ranks, with Horovod: a look ahead at lesson 07.

mpirun -np 2 python train_torch_horovod.py --epochs 4 --batch-size 32
"""

import argparse
import math

import horovod.torch as hvd
import torch
from torch import nn

from lessons.toolkit import data
from lessons.toolkit.ranks import enough_gpus
from lessons.toolkit.record import Record

from train_torch import build_model, evaluate, train_step


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
    parser.add_argument("--lr", type=float, default=0.001, help="learning rate of one rank")
    parser.add_argument("--train-samples", type=int, default=60000, help="training images in use")
    parser.add_argument("--seed", type=int, default=1, help="where all random numbers begin")
    return parser


def main():
    parser = command_line()
    args = parser.parse_args()

    hvd.init()
    rank, size = hvd.rank(), hvd.size()
    torch.manual_seed(args.seed)
    device = "cpu"
    if torch.cuda.is_available():  # one GPU for each rank of a node
        enough_gpus(torch.cuda.device_count())
        device = torch.device("cuda", hvd.local_rank())
        torch.cuda.set_device(device)
    mnist = data.load("mnist", train_samples=args.train_samples)
    n = len(mnist.x_train) // size * size  # equal shares, so that no rank waits for a last batch
    x = torch.tensor(mnist.x_train[rank:n:size])
    y = torch.tensor(mnist.y_train[rank:n:size], dtype=torch.long)
    x_test = torch.tensor(mnist.x_test)
    y_test = torch.tensor(mnist.y_test, dtype=torch.long)

    model = build_model(args.model).to(device)
    lr = args.lr * size
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
    loss_function = nn.CrossEntropyLoss()

    record = Record(
        "02",
        args,
        source="torch-horovod",
        params=sum(p.numel() for p in model.parameters()),
        optimizer="adam",
        dataset=mnist.facts,
        rank=rank,
        size=size,
        local_rank=hvd.local_rank(),
        shard=(rank, n, size),
        lr=lr,
        scaling="epoch",
    )
    record.begin(model.parameters())
    for number in range(1, args.epochs + 1):
        loss_sum = 0
        correct = 0
        with record.epoch(steps=math.ceil(len(x) / args.batch_size)) as epoch:
            for batch in torch.randperm(len(x)).split(args.batch_size):
                xb = x[batch].to(device)
                yb = y[batch].to(device)
                loss, outputs = train_step(model, optimizer, loss_function, xb, yb)
                loss_sum += loss.detach() * len(batch)
                correct += (outputs.argmax(1) == yb).sum()
            epoch.log(loss=loss_sum.item() / len(x), accuracy=correct.item() / len(x))
        if rank == 0:
            print(f"Epoch {number}/{args.epochs}: {epoch.seconds:.2f} s, {epoch.logged}")
    record.trained(model.parameters(), lambda row: hvd.allgather(torch.tensor(row)))

    loss, accuracy = evaluate(model, loss_function, x_test.to(device), y_test.to(device))
    if rank == 0:
        print(f"Test loss: {loss:.4f}\nTest accuracy: {accuracy:.4f}")
    record.end(
        test_loss=loss,
        test_accuracy=accuracy,
    )


if __name__ == "__main__":
    main()
