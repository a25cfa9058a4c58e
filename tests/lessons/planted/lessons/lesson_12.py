"""Lesson 12: the scaling study, on two ranks against one, with an output for each kind."""

from tests.lessons.planted.table import Job, Lesson, Mistake

FEW = ("--rounds", "6", "--batch-size", "32", "--train-samples", "128")
WORDS = ("--train-samples", "2560", "--test-samples", "500", "--epochs", "3")
SAMPLER = "DistributedSampler(x, size, rank, seed=args.seed)"
PASS = "DistributedSampler(range(samples), p, 0 if copies else rank, seed=args.seed)"
WRAPPED = "return DistributedDataParallel(model, device_ids=gpus, process_group=group)"
COPIES = "DistributedDataParallel(network, device_ids=gpus, process_group=group)"
NOT_WRAPPED = (("train.py", WRAPPED, "return model"),)


def study(kind: str, *changes: tuple[str, str, str], words: tuple[str, ...] = FEW) -> Job:
    return Job(changes, ("--scaling", kind, *words), ranks=2, program="study.py")


def training(kind: str, *changes: tuple[str, str, str], words: tuple[str, ...] = WORDS) -> Job:
    return Job(changes, ("--scaling", kind, *words), ranks=2)


LESSON = Lesson(
    folder="12_scaling",
    jobs={
        **{f"right study, {kind}": study(kind) for kind in ("strong", "epoch", "weak")},
        "one rank": Job((), WORDS, ranks=1),
        "right, strong": training("strong"),
        "right, epoch": training("epoch"),
        "three rounds": study("strong", words=("--rounds", "3", *FEW[2:])),
        "too little work": study("strong", words=(*FEW[:4], "--train-samples", "32")),
        "a batch of four": study("strong", words=("--rounds", "6", "--batch-size", "4", *FEW[4:])),
        "a rate of 0": study("epoch", ("study.py", '["lr"] = lr', '["lr"] = 0')),
        "not wrapped": study("weak", ("study.py", f"model = {COPIES}", "pass")),
        "every rank reads the same": study(
            "weak", ("study.py", PASS, PASS.replace("rank, s", "0, s"))
        ),
        "ranks that know of no others": Job(
            (), ("--rounds", "1"), start="fails", program="study.py"
        ),
        "the local batch kept": training("strong", ("train.py", "batch // size, s", "batch, s")),
        "training, not wrapped": training("epoch", *NOT_WRAPPED),
        "every rank reads all": training(
            "epoch", ("train.py", SAMPLER, SAMPLER.replace("size, rank", "1, 0"))
        ),
        "half of the images": training("epoch", words=("--train-samples", "1280", *WORDS[2:])),
        "another network": Job((), ("--model", "mlp512", *WORDS), ranks=1),
        "nothing learnt": training(
            "epoch", ("train.py", "Adam(params, lr=lr)", "Adam(params, lr=0.0)")
        ),
    },
    handed_in={
        "12_study_1.out": "right study, strong",
        "12_study_2.out": "right study, epoch",
        "12_study_3.out": "right study, weak",
        "12_ddp_4.out": "one rank",
        "12_ddp_5.out": "right, strong",
        "12_ddp_6.out": "right, epoch",
    },
    mistakes={
        "none": Mistake("right, epoch", {}),
        "three rounds": Mistake("three rounds", {"study": "0 sizes"}, "12_study_1.out"),
        "too little work": Mistake("too little work", {"study": "32 samples"}, "12_study_1.out"),
        "a batch of four": Mistake("a batch of four", {"study": "size smallest"}, "12_study_1.out"),
        "a rate of 0": Mistake("a rate of 0", {"study": "smallest change"}, "12_study_2.out"),
        "not wrapped": Mistake(
            "not wrapped",
            {
                "study": "difference in a parameter",
                "speed": "difference in a parameter",
            },
            "12_study_3.out",
        ),
        "every rank reads the same": Mistake(
            "every rank reads the same", {"study": "1 size", "speed": "1 size"}, "12_study_3.out"
        ),
        "ranks that know of no others": Mistake(
            "ranks that know of no others",
            dict.fromkeys(("study", "speed"), "`weak`"),
            "12_study_3.out",
        ),
        "the local batch kept": Mistake(
            "the local batch kept", {"accuracy": "batch size of all ranks"}, "12_ddp_5.out"
        ),
        "training, not wrapped": Mistake(
            "training, not wrapped", {"accuracy": "difference between ranks"}
        ),
        "every rank reads all": Mistake("every rank reads all", {"accuracy": "steps per epoch"}),
        "half of the images": Mistake("half of the images", {"accuracy": "different samples read"}),
        "another network": Mistake(
            "another network", {"accuracy": "no run of `one`"}, "12_ddp_4.out"
        ),
        "nothing learnt": Mistake("nothing learnt", {"accuracy": "test accuracy"}),
    },
    # What is written by hand, and judged in tests/autograder/judging.
    never=frozenset({"report", "laws", "foretelling"}),
    may=frozenset({"speed"}),  # with other programs on the machine
)
