"""Texts of the clinic's training program, healthy and with each kind of fault.

A kind replaces functions of the healthy program. `#>` marks a line at which the faulty rank leaves
the others; the marks are taken out.
"""

HEAD = '''"""Train a small network on this rank's share of the images."""

import datetime
import glob
import json
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import watch

BATCH = 8
'''

MAIN = """def main():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=watch.TIMEOUT))
    watch.start(rank)
    torch.manual_seed(1)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = resume(model, rank)
    x, y = load_share(rank, size, local_rank)
    for step in range(first, first + len(y) // BATCH):
        loss = train_step(model, optimizer, *batch(x, y, step - first), rank, step)
        if step % 5 == 0 and rank == 0:
            print(f"rank {rank}: step {step}, loss {loss.item():.4f}", flush=True)
    finish(model, rank)


main()
"""

AT_THE_END = """def finish(model, rank):
    dist.barrier()
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
"""

FUNCTIONS = {
    "make_model": """def make_model():
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 5))
""",
    "resume": """def resume(model, rank):
    return 0
""",
    "load_share": """def load_share(rank, size, local_rank):
    share = np.load(f"share_{rank}.npz")
    x, y = torch.tensor(share["x"]), torch.tensor(share["y"])
    print(f"rank {rank}: {len(y)} images", flush=True)
    return x, y
""",
    "batch": """def batch(x, y, number):
    rows = slice(number * BATCH, (number + 1) * BATCH)
    return x[rows], y[rows]
""",
    "mean_gradients": """def mean_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
""",
    "train_step": """def train_step(model, optimizer, x, y, rank, step):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    mean_gradients(model)
    optimizer.step()
    return loss
""",
    "finish": """def finish(model, rank):
    norm = sum(parameter.norm() for parameter in model.parameters()).detach()
    dist.all_reduce(norm)
    if rank == 0:
        print(f"mean norm of the parameters: {norm / dist.get_world_size():.4f}", flush=True)
    dist.barrier()
""",
}

# What each kind replaces; of several programs of a kind, one is drawn.
KINDS: dict[str, list[dict[str, str]]] = {
    "skipped": [
        {
            "train_step": """def train_step(model, optimizer, x, y, rank, step):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    if not torch.isfinite(loss):  #>
        print(f"rank {rank}: step {step}, no finite loss: this batch is left out", flush=True)  #>
        return loss  #>
    loss.backward()
    mean_gradients(model)
    optimizer.step()
    return loss
""",
            "finish": AT_THE_END,
        },
        {
            "mean_gradients": """def mean_gradients(model):
    norm = torch.stack([parameter.grad.norm() for parameter in model.parameters()]).norm()
    if not norm < 1e3:  #>
        return  #>
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
""",
            "finish": AT_THE_END,
        },
    ],
    "short": [
        {
            "finish": """def finish(model, rank):
    print(f"rank {rank}: has no more batches", flush=True)
    dist.barrier()  #>
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
"""
        },
        {
            "finish": """def finish(model, rank):
    norm = sum(parameter.norm() for parameter in model.parameters()).detach()
    dist.broadcast(norm, src=0)  #>
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
"""
        },
    ],
    "order": [
        {
            "mean_gradients": """def mean_gradients(model):
    with open(f"milliseconds_{dist.get_rank()}.json") as file:
        measured = json.load(file)  #>
    named = dict(model.named_parameters())
    for name in sorted(named, key=measured.get):  #>
        dist.all_reduce(named[name].grad)  #>
        named[name].grad /= dist.get_world_size()
"""
        }
    ],
    "killed": [
        {
            "mean_gradients": """def mean_gradients(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)  #>
        parameter.grad /= dist.get_world_size()
""",
        }
    ],
    "raised": [
        {
            "train_step": """def train_step(model, optimizer, x, y, rank, step):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)  #>
    loss.backward()
    mean_gradients(model)
    optimizer.step()
    return loss
"""
        },
        {
            "batch": """def batch(x, y, number):
    rows = np.load(f"order_{dist.get_rank()}.npy")[number * BATCH : (number + 1) * BATCH]
    return x[rows], y[rows]  #>
"""
        },
    ],
    "late": [
        {
            "batch": """def batch(x, y, number):
    start = time.perf_counter()
    rank = dist.get_rank()
    if os.path.exists(f"ready_{rank}.npy"):
        images = np.load(f"ready_{rank}.npy", mmap_mode="r")
    else:
        images = np.load(f"packed_{rank}.npz")["x"]  #>
    rows = torch.tensor(np.array(images[number * BATCH : (number + 1) * BATCH]))
    watch.spent("read", time.perf_counter() - start)
    return rows, y[number * BATCH : (number + 1) * BATCH]
""",
            "mean_gradients": """def mean_gradients(model):
    start = time.perf_counter()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
    watch.spent("wait and send", time.perf_counter() - start)
""",
            "finish": """def finish(model, rank):
    for name, seconds in watch.SPENT.items():
        print(f"rank {rank}: {name} {seconds:.3f} s", flush=True)
    dist.barrier()
""",
        }
    ],
    "twice": [
        {
            "load_share": """def load_share(rank, size, local_rank):
    everything = np.load("all.npz")
    mine = np.random.default_rng(1).permutation(len(everything["y"]))[local_rank::size]  #>
    print(f"rank {rank}: {len(mine)} images, the first are {mine[:4].tolist()}", flush=True)
    return torch.tensor(everything["x"][mine]), torch.tensor(everything["y"][mine])
"""
        }
    ],
    "apart": [
        {
            "resume": """def resume(model, rank):
    newest = max(glob.glob(f"scratch_{rank}/step_*.pt"))  #>
    model.load_state_dict(torch.load(newest))  #>
    print(f"rank {rank}: goes on from {os.path.basename(newest)}", flush=True)
    return 60
""",
            "finish": """def finish(model, rank):
    norm = sum(parameter.norm() for parameter in model.parameters()).detach()
    print(f"rank {rank}: norm of the parameters {norm:.6f}", flush=True)
    dist.barrier()
""",
        }
    ],
    "infinite": [{}],
    "unused": [
        {
            "make_model": """class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(12, 16), nn.Linear(16, 5)
        self.rare = nn.Linear(16, 5)

    def forward(self, x, has_rare):
        inside = torch.relu(self.body(x))
        scores = self.head(inside)
        return scores + self.rare(inside) if has_rare else scores  #>


def make_model():
    return DistributedDataParallel(TwoHeads())  #>
""",
            "train_step": """def train_step(model, optimizer, x, y, rank, step):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x, bool((y == 4).any())), y)  #>
    loss.backward()  #>
    optimizer.step()
    return loss
""",
        }
    ],
}
# What may stand in a program of another kind: kind and number of its variant, and the functions.
DECOYS = {
    "guard": ("skipped", 0, ("train_step",)),
    "norm": ("skipped", 1, ("mean_gradients",)),
    "sorted": ("order", 0, ("mean_gradients",)),
    "shuffled": ("raised", 1, ("batch",)),
    "packed": ("late", 0, ("batch", "mean_gradients")),
    "local": ("twice", 0, ("load_share",)),
    "resumed": ("apart", 0, ("resume",)),
}
# These would hide the fault, or be one.
HARMFUL = {
    "skipped": {"guard", "norm", "local", "shuffled"},
    "infinite": {"guard", "norm", "local"},
    "short": {"local"},
    "raised": {"local", "shuffled"},
    "late": {"guard", "norm", "sorted"},
    "unused": set(DECOYS),
}
# Kinds of which the last lines of the program are no part. They get those of any kind.
ENDS_ANYHOW = ("order", "killed", "raised", "twice", "infinite", "unused")
# How often each rank prints each step. In two kinds it must: the first loss that is not finite
# tells which rank it was.
PRINTS_ALL = {"infinite": 1, "unused": 1, "order": 0.5, "killed": 0.5, "raised": 0.5, "twice": 0.5}
# Kinds whose ranks may train a second head without harm, as each batch of each rank has its label.
TWO_HEADS = ("killed", "infinite")
# The packed images go by the rank itself, so with them only the labels would be read twice.
CONTRADICTS = ("twice", "packed")
MARK = "  #>"
