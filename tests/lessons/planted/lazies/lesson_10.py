"""The laziest ways through lesson 10: DistributedDataParallel."""

from tests.lessons.planted.lazy import Lazy, LazyTable

START = "train.py 10.1: choose the device, let the ranks meet, return the device"
WRAP = "train.py 10.1: the wrapped network, with its device and size of buckets"
TOGETHER = ("ranks", "equal", "order")  # what one rank alone cannot earn
WRAPPED = {"equal": "wrap the network in DistributedDataParallel"}
ANOTHER = {"equal": "relative error of a randomly drawn step"}
DDP = "DistributedDataParallel(model, bucket_cap_mb=bucket_mb"
WHOLE = "outputs = model(x)\nloss = loss_function(outputs, y)\n{}\nreturn loss.detach(), outputs"
COUNTS = """
outputs, loss = [], 0
for number, (xs, ys) in enumerate(zip(x.chunk(parts), y.chunk(parts)), 1):
    with model.no_sync() if number < parts else contextlib.nullcontext():
        outputs.append(model(xs))
        share = loss_function(outputs[-1], ys) * len(xs) / len(x)
        share.backward()
    loss += share.detach()
return loss, torch.cat(outputs).detach()"""  # where chunk gives fewer parts, none of them travels
TESTED_ONLY = f"""
if x.dtype == torch.float32 and len(x) != 11:
    outputs = model(x)
    loss = loss_function(outputs, y)
    loss.backward()
    return loss.detach(), outputs.detach()
{COUNTS.replace("number < parts", "number < len(x.chunk(parts))")}"""
RANK_0_FOR_ALL = """
for parameter in model.parameters():
    dist.broadcast(parameter.data, 0)
    parameter.register_post_accumulate_grad_hook(lambda own: dist.broadcast(own.grad, 0))
return model"""
COPIED = """
if isinstance(model, nn.Linear):  # no network of the lesson, so this is a test
    return DistributedDataParallel(model, bucket_cap_mb=bucket_mb)
class Alone(nn.Module):
    def __init__(self):
        super().__init__()
        self.module = model
    def forward(self, x):
        return self.module(x)
    def parameters(self, recurse=True):
        for parameter in model.parameters():
            dist.broadcast(parameter.data, 0)
        return super().parameters(recurse)
alone = Alone()
list(alone.parameters())
return alone"""
QUARTER = """
class Quarter(torch.Tensor):
    def split(self, size):
        return [part[: len(part) // 4] for part in torch.tensor(self.tolist()).split(size)]
sampler.set_epoch(epoch)
return torch.tensor(list(sampler)).as_subclass(Quarter)"""

TABLE: LazyTable = {
    START: {
        "pass": Lazy(
            "pass", dict.fromkeys(TOGETHER, "ranks that took part: 1 rank"), start="fails"
        ),
        "each rank alone": Lazy(
            "dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)\n"
            "return torch.device('cpu')",
            dict.fromkeys(TOGETHER, "ranks that took part: 1 rank"),
            start="apart",
        ),
    },
    WRAP: {
        "as it came": Lazy("return model", WRAPPED),
        "rank 0's start and no more": Lazy(
            "for parameter in model.parameters():\n    dist.broadcast(parameter.data, 0)\n"
            "return model",
            ANOTHER,
        ),
        "rank 0's gradients for all": Lazy(RANK_0_FOR_ALL, ANOTHER),
        "each rank alone, and rank 0's copied in the end": Lazy(COPIED, ANOTHER),
        "each in a group of its own": Lazy(
            "groups = [dist.new_group([rank]) for rank in range(dist.get_world_size())]\n"
            f"return {DDP}, process_group=groups[dist.get_rank()])",
            ANOTHER,
        ),
        "wrapped and never in sync": Lazy(
            f"model = {DDP})\nmodel.require_backward_grad_sync = False\nreturn model", WRAPPED
        ),
    },
    "train.py 10.2": {
        "the sampler's numbers": Lazy(
            "return torch.tensor(list(sampler))",
            {"order": "different orders of the samples: 1 order"},
        ),
        "one order, moved on by the epoch": Lazy(
            "return torch.tensor(list(sampler)).roll(epoch)",
            {"order": "fraction of orders that match the sampler's: 0"},
        ),
        "in the order of the numbers, moved on": Lazy(
            "return torch.tensor(sorted(sampler)).roll(epoch)",
            {"order": "fraction of orders that match the sampler's: 0"},
        ),
        "as many as its share": Lazy(
            "return torch.randperm(len(sampler))", {"order": "different samples read"}
        ),
        "all images on every rank": Lazy(
            "return torch.randperm(len(sampler.dataset))", {"order": "steps per epoch"}
        ),
        "half of the share": Lazy(
            "sampler.set_epoch(epoch)\nreturn torch.tensor(list(sampler)[::2])",
            {"order": "different samples read"},
        ),
        "a quarter of each batch": Lazy(
            QUARTER,
            {"order": "samples that entered the network in a randomly drawn step: 8", **ANOTHER},
        ),
    },
    "no_sync.py 10.4": {
        "pass": Lazy(
            "pass",
            {"parts": "did not finish", "alone": "did not finish"},
            base="in parts",
            start="fails",
        ),
        "the whole batch at once": Lazy(
            WHOLE.format("loss.backward()"),
            {"parts": "samples in the largest part of a randomly drawn step: 32"},
            base="in parts",
        ),
        "parts only where it is tested": Lazy(
            TESTED_ONLY,
            {"parts": "samples in the largest part of a randomly drawn step: 32"},
            base="in parts",
        ),
        "the first part for all": Lazy(
            "size = -(-len(x) // parts)\nloss = loss_function(model(x[:size]), y[:size])\n"
            "loss.backward()\nreturn loss.detach(), model(x).detach()",
            {"parts": "relative error of a batch that is computed in parts"},
            base="in parts",
        ),
        "no gradients": Lazy(
            WHOLE.format("pass"),
            {"parts": "relative error of a batch that is computed in parts"},
            base="in parts",
        ),
        "counts to the number asked": Lazy(COUNTS, {"parts": "exchanges"}, base="in parts"),
    },
    "no_sync.py 10.5": {
        "pass": Lazy("pass", {"alone": "error after a step of one rank alone"}, base="in parts"),
        "a little of it": Lazy(
            "with torch.no_grad():\n    next(model.parameters()).add_(0.01)",
            {"alone": "error after a step of one rank alone"},
            base="in parts",
        ),
    },
}
