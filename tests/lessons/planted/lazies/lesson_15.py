"""The laziest ways through lesson 15: a job that survives."""

from tests.lessons.planted.lazy import Lazy, LazyTable

OTHER = {"same": "bit for bit"}
TWICE = {"once": "not read exactly once"}
FILES = {"files": "was not whole"}
CHOSEN = {"files": "other checkpoints than rank 0"}
AGREE = {"lost": "ranks disagreed"}
COPIES = {"background": "values in the copy"}
BACK = "parts of the training that did not come back"
NOTHING = {"lost": BACK}
AGAIN_FROM_0 = {"same": BACK, "lost": BACK}
INTERVAL = {"interval": "error of the interval"}
CAPTURE = "snapshot.py 15.1: state_dict() of three objects, sampler.state(), random state"
RESTORE = "snapshot.py 15.1: load_state_dict, sampler.load, torch.set_rng_state"
STATE = "sampler.py 15.2: the epoch, the position, the generator before the shuffle"
LOAD = "sampler.py 15.2: set the generator, shuffle, set epoch and position"
WRITE = "atomic.py 15.3: write to a file beside it, flush, os.fsync, os.replace"
# Computes the lost steps again, so the final parameters are those of a training without accidents.
TRAIN_AGAIN = """
import step
import train
from types import SimpleNamespace

args, text = train.command_line().parse_args(), train.Text()
nobody = SimpleNamespace(read=lambda samples: None)
for _ in range(saved["step"]):
    batch = training.sampler.next_batch(args.global_batch)
    loss_of_piece = step.reader(training, text, batch, args, torch.device("cpu"), nobody)
    step.train_step(training, loss_of_piece, len(batch), args.most)
"""
PARAMETERS = "training.network.load_state_dict(saved['network'])"
FRESH = "torch.Generator().get_state()"

TABLE: LazyTable = {
    CAPTURE: {
        "the parameters alone": Lazy(
            "return {'network': training.network.state_dict()}",
            OTHER | TWICE | NOTHING,
            also={RESTORE: PARAMETERS},
            base="survived",
        ),
        "an empty checkpoint": Lazy(
            "return {}", AGAIN_FROM_0, also={RESTORE: TRAIN_AGAIN}, base="survived"
        ),
        "a new random state": Lazy(
            "return {'network': training.network.state_dict(),"
            " 'optimizer': training.optimizer.state_dict(),"
            " 'schedule': training.schedule.state_dict(),"
            f" 'sampler': training.sampler.state(), 'random': {FRESH}}}",
            OTHER,
            base="survived",
        ),
    },
    RESTORE: {
        "pass": Lazy("pass", OTHER | TWICE | NOTHING, base="survived"),
        "all but the sampler": Lazy(
            f"{PARAMETERS}\n"
            "training.optimizer.load_state_dict(saved['optimizer'])\n"
            "training.schedule.load_state_dict(saved['schedule'])\n"
            "torch.set_rng_state(saved['random'])",
            OTHER | TWICE,
            base="survived",
        ),
    },
    STATE: {
        "a constant generator": Lazy(
            f"return {{'epoch': self.epoch, 'position': self.position, 'generator': {FRESH}}}",
            OTHER | TWICE,
            base="survived",
        ),
        "the beginning of the epoch": Lazy(
            "return {'epoch': self.epoch, 'position': 0, 'generator': self.before}",
            OTHER | TWICE,
            base="survived",
        ),
    },
    LOAD: {
        "pass": Lazy("pass", OTHER | TWICE, base="survived"),
        "the position alone": Lazy(
            "self.epoch, self.position = state['epoch'], state['position']",
            OTHER | TWICE,
            base="survived",
        ),
    },
    WRITE: {
        "torch.save": Lazy("torch.save(state, path)", FILES, base="whole"),
        "the step alone": Lazy(
            "with open(f'{path}.new', 'wb') as file:\n"
            "    torch.save({'step': state['step']}, file)\n"
            "    os.fsync(file.fileno())\n"
            "os.replace(f'{path}.new', path)",
            AGAIN_FROM_0,
            also={RESTORE: TRAIN_AGAIN},
            base="survived",
        ),
        "renamed without fsync": Lazy(
            "torch.save(state, f'{path}.new')\nos.replace(f'{path}.new', path)", FILES, base="whole"
        ),
    },
    "atomic.py 15.3: rank 0 calls newest, broadcasts the step; the others load it": {
        "each rank alone": Lazy("return newest(folder)", CHOSEN, base="whole"),
        "nothing": Lazy("return None", {"lost": "steps lost / steps"}, base="survived"),
    },
    "atomic.py 15.3: return what torch.load reads, or print why it cannot": {
        "no try": Lazy("return torch.load(path, map_location='cpu')", FILES, base="whole"),
        "from the beginning": Lazy(
            "return None", {"lost": "steps lost / steps", "same": BACK}, base="survived"
        ),
    },
    "signals.py 15.4": {
        "its own": Lazy("return bool(warnings)", AGREE, base="whole"),
        "False": Lazy("return False", AGREE, base="whole"),
    },
    "interval.py 15.7": {
        "every hour": Lazy("return 3600", INTERVAL, base="whole"),
        "the write time": Lazy("return write_s * nodes", INTERVAL, base="whole"),
    },
    "background.py 15.8": {
        "the value": Lazy("return value", COPIES, base="whole"),
        "a new dictionary": Lazy(
            "return dict(value) if isinstance(value, dict) else value", COPIES, base="whole"
        ),
    },
    "pieces.py 15.9": {
        "the whole batch on each rank": Lazy(
            "loss = loss_of_piece(batch) / size\nloss.backward()\nreturn loss.detach()",
            OTHER | TWICE | {"elastic": "error of the gradients"},
            base="whole",
        ),
        "the first piece": Lazy(
            "loss = loss_of_piece(batch[rank::size][:most]) / size\n"
            "loss.backward()\nreturn loss.detach()",
            {"elastic": "error of the gradients"},
            base="whole",
        ),
    },
}
