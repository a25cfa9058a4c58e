"""Lesson 16: TensorFlow's workers and parameter servers."""

from tests.lessons.planted.table import Job, Lesson, Mistake

FEW = ("--train-samples", "6400", "--epochs", "2", "--wait", "20")
ADDRESSES = 'f"{host}:{port}" for host, port in zip(hosts[kind], ports[kind], strict=True)'
WORKERS = {
    "equal ports": (
        "fails",
        ("tf_cluster.py", ADDRESSES, 'f"{host}:{ports[kind][0]}" for host in hosts[kind]'),
    ),
    "everybody is worker 0": ("fails", ("tf_cluster.py", '"index": index', '"index": 0')),
    "ports that nobody else knows": (
        "fails",
        ("tf_cluster.py", 'f"{host}:{port}"', 'f"{host}:{port + index}"'),
    ),
    "no kind of the name worker": (
        "fails",
        ("tf_cluster.py", '{"cluster": cluster,', '{"cluster": {"ps": cluster["worker"]},'),
    ),
    "a network outside of the scope": (
        "fails",
        ("train_multiworker.py", "    with strategy.scope():\n        model",
         "    if True:\n        model"),
    ),
    "workers with seeds of their own": (
        "apart",
        ("train_multiworker.py", "my_share(args.train_samples, args.seed + epoch,",
         "my_share(args.train_samples, args.seed + epoch + 100 * rank,"),
    ),
}  # fmt: skip

# What a multiworker job that did not finish loses besides.
WITHOUT = {"learnt": "of `multiworker`", "same": "of `multiworker`"}
MULTI, SERVER = "16_multiworker.out", "16_ps.out"

LESSON = Lesson(
    folder="16_tensorflow",
    jobs={
        "right": Job((), FEW, ranks=2, start="apart", program="train_multiworker.py"),
        "right servers": Job(
            (),
            (*FEW, "--synchronous", "--asynchronous"),
            ranks=4,
            start="apart",
            program="train_ps.py",
        ),
        "asynchronous alone": Job(
            (), (*FEW, "--asynchronous"), ranks=4, start="apart", program="train_ps.py"
        ),
        "one worker on a server": Job(
            (),
            (*FEW, "--synchronous", "--asynchronous"),
            ranks=3,
            start="apart",
            program="train_ps.py",
        ),
        "multiworker, keras 3": Job(
            (),
            FEW,
            ranks=2,
            start="fails",
            program="train_multiworker.py",
            environ={"TF_USE_LEGACY_KERAS": "0"},
        ),
    }
    | {
        name: Job((change,), FEW, ranks=2, start=start, program="train_multiworker.py")
        for name, (start, change) in WORKERS.items()
    },
    handed_in={MULTI: "right", SERVER: "right servers"},
    mistakes={
        "none": Mistake("right servers", {}),
        "asynchronous alone": Mistake(
            "asynchronous alone", {"same": "no run of `sync`"}, replaces=SERVER
        ),
        "one worker on a server": Mistake(
            "one worker on a server",
            {"servers": "ranks that took part: 3", "same": "ranks that took part: 3"},
            replaces=SERVER,
        ),
    }
    | {
        name: Mistake(name, {"workers": reason, **WITHOUT}, replaces=MULTI)
        for name, reason in {
            "multiworker, keras 3": "Argument(s) not recognized",
            "equal ports": "UnknownError: Could not start gRPC server",
            "everybody is worker 0": "UnknownError: Could not start gRPC server",
            "ports that nobody else knows": "nobody answers as worker",  # either
            "no kind of the name worker": "'worker' not found in cluster_spec",
            "a network outside of the scope": "did not finish",
        }.items()
    }
    | {
        "workers with seeds of their own": Mistake(
            "workers with seeds of their own",
            {
                "workers": "different samples read",
                "same": "training loss of the last epoch",
            },
            replaces=MULTI,
        )
    },
)
