"""The laziest ways through lesson 07: Horovod."""

from tests.lessons.planted.lazy import Lazy, LazyTable

TOGETHER = ("ranks", "equal", "rate", "checkpoint")  # what one rank alone cannot earn
PLAIN = "return keras.optimizers.Adam(lr * hvd.size())"
RIGHT_SAVE = "if hvd.rank() != 0:\n    return 0\nmodel.save_weights(path)\nreturn 1"
HIDDEN = f"broadcast_variables(model.variables, root_rank=0)\n{RIGHT_SAVE}"
WRAPPED = {"equal": "wrap the optimizer with Horovod"}
START = {"equal": "all ranks started with the parameters of rank 0: no"}
# Rank 0's parameters go to all after each step: equal, and what the others computed is lost.
OVERWRITES = """
class Overwriting(keras.optimizers.Adam):
    def apply_gradients(self, pairs, **more):
        pairs = list(pairs)
        super().apply_gradients(pairs, **more)
        broadcast_variables([variable for _, variable in pairs], root_rank=0)

return Overwriting(lr * hvd.size())
"""

TABLE: LazyTable = {
    "train.py 7.1": {
        "pass": Lazy(
            "pass",
            dict.fromkeys(TOGETHER, "ranks that took part: 1 rank"),
            start="fails",
        ),
        "each rank alone": Lazy(
            "hvd.init(comm=[int(os.environ['OMPI_COMM_WORLD_RANK'])])",
            dict.fromkeys(TOGETHER, "ranks that took part: 1 rank"),
            also={"train.py 7.4": "return 0"},  # two would want to write one file
            start="apart",
        ),
        "one order of the images for all": Lazy(
            "hvd.init()\nkeras.utils.set_random_seed = lambda seed: tf.random.set_seed(1)",
            {"equal": "different training losses of the ranks: 1 loss"},
            start="apart",
        ),
    },
    "train.py 7.2": {
        "plain Adam": Lazy(PLAIN, WRAPPED),
        "plain Adam and a broadcast hidden in the checkpoint": Lazy(
            PLAIN, WRAPPED, also={"train.py 7.4": HIDDEN}
        ),
        "the same and no broadcast at the start": Lazy(
            PLAIN, WRAPPED, also={"train.py 7.3": "pass", "train.py 7.4": HIDDEN}
        ),
        "plain Adam and rank 0 over all": Lazy(
            OVERWRITES, {"equal": "relative error of a randomly drawn step"}
        ),
        "rate 0": Lazy(
            "return hvd.DistributedOptimizer(keras.optimizers.Adam(0.0))",
            {
                "equal": "largest change in a parameter during training: 0",
                "rate": "learning rate: 0",
                "accuracy": "accuracy",
            },
        ),
        "rate as it came": Lazy(
            "return hvd.DistributedOptimizer(keras.optimizers.Adam(lr))", {"rate": "hvd.size()"}
        ),
    },
    "train.py 7.3": {
        "pass": Lazy("pass", START),
        "hidden in the checkpoint": Lazy("pass", START, also={"train.py 7.4": HIDDEN}),
        "zeros on every rank": Lazy(
            "model.set_weights([0 * weight for weight in model.get_weights()])",
            START | {"accuracy": "test accuracy"},
        ),
        "a constant on every rank": Lazy(
            "model.set_weights([0 * weight + 0.01 for weight in model.get_weights()])", START
        ),
        "from another rank": Lazy(
            "broadcast_variables(model.variables, root_rank=hvd.size() - 1)", START
        ),
    },
    "train.py 7.4": {
        "pass": Lazy("pass", {"checkpoint": "new checkpoint files on the disk: 0 files"}),
        "only said": Lazy(
            "return int(hvd.rank() == 0)",
            {"checkpoint": "new checkpoint files on the disk: 0 files"},
        ),
        "every rank writes and says it did not": Lazy(
            "model.save_weights(path)\nreturn int(hvd.rank() == 0)",
            {"checkpoint": "new checkpoint files on the disk: 2 files"},
        ),
        "a file with nothing in it": Lazy(
            "if hvd.rank() == 0:\n    checkpoint.h5py.File(path, 'w').close()\n"
            "return int(hvd.rank() == 0)",
            {"checkpoint": "the checkpoint has the trained parameters: no"},
        ),
    },
}
