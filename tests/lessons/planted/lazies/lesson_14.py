"""The laziest ways through lesson 14: where do the milliseconds go?"""

from tests.lessons.planted.lazy import Lazy, LazyTable

FLOPS = {"counting": "error of the FLOPs"}
ROOF = {"counting": "error of the roofline"}
READ = {"counting": "times read from a trace"}
OWN = {
    "no-waiting": "process reads itself",
    "faster": "process reads itself",
}
SCALER = {"small-numbers": "PyTorch's scaler"}
PADDING = {"small-numbers": "with and without padding"}

TABLE: LazyTable = {
    "flops.py 14.1": {
        "nothing": Lazy("return 0", FLOPS),
        "the usual rule": Lazy("return 6 * params * tokens", FLOPS),
    },
    "flops.py 14.2": {
        "the peak": Lazy("return peak", ROOF),
        "the bandwidth": Lazy("return bandwidth", ROOF),
    },
    "reading.py 14.3": {
        "the sum": Lazy("return sum(end - start for start, end in spans)", READ),
        "from first to last": Lazy(
            "return max(end for _, end in spans) - min(start for start, _ in spans)", READ
        ),
    },
    "reading.py 14.4": {
        "everything": Lazy("return 1.0", READ),
        "nothing": Lazy("return 0.0", READ),
    },
    "fast.py 14.5": {
        "the slow one": Lazy("import slow\nreturn slow.batches(texts, batch_size)", OWN),
        "no workers": Lazy("return DataLoader(texts, batch_size)", OWN),
        "read at once, by itself": Lazy(
            "import slow\nreturn list(slow.batches(texts, batch_size))", OWN
        ),
        "around the disk": Lazy(
            "from gpt import windows\n"
            "parts = texts.starts.split(batch_size)\n"
            "return [windows(texts.ids, part, texts.length) for part in parts]",
            OWN,
        ),
    },
    "fast.py 14.6": {
        "the slow one": Lazy(
            "import slow\nreturn slow.gradients(model, ids, following)",
            {"few-operations": "forward passes per step"},
        ),
        "one text of the batch": Lazy(
            "loss = loss_of(model(ids[:1]), following[:1])\nloss.backward()\nreturn loss.detach()",
            {"same": "training steps", "faster": "training steps"},
        ),
    },
    "fast.py 14.7": {
        "the slow one": Lazy(
            "import slow\nreturn slow.optimizer(params, lr)",
            {"few-operations": "the optimizer's update", "no-waiting": "waits for the device"},
        ),
        "plain SGD": Lazy(
            "return torch.optim.SGD(params, lr, fused=True)",
            {"same": "training steps", "faster": "training steps"},
        ),
    },
    "fast.py 14.8": {
        "the slow one": Lazy(
            "import slow\nreturn slow.note(model, loss)", {"no-waiting": "waits for the device"}
        ),
        "a list": Lazy(
            "return torch.tensor([float(loss), 0.0])",
            {"no-waiting": "waits for the device", "same": "noted losses"},
        ),
        "no norm": Lazy("return torch.stack([loss, loss])", {"same": "noted losses"}),
    },
    "scaling.py 14.9": {
        "an ordinary step": Lazy("optimizer.step()\nreturn True", SCALER, base="ways"),
        "no step": Lazy("return False", SCALER, base="ways"),
    },
    "lengths.py 14.10": {
        "unchanged": Lazy("return ids, following", PADDING, base="ways"),
        "cut": Lazy("return ids[:, :16], following[:, :16]", PADDING, base="ways"),
    },
}  # fmt: skip
