"""The laziest ways through lesson 08: distributing the data."""

from tests.lessons.planted.lazy import Lazy, LazyTable

TOGETHER = ("overlap", "cover", "equal-steps", "steps-fell")  # what takes two ranks that end
PARTS = "list_parts(folder)"
MINE = "[hvd.rank() :: hvd.size()]"

TABLE: LazyTable = {
    "train.py 8.3": {
        "all files to everyone": Lazy(
            f"return {PARTS}",
            {"overlap": "let only rank 0 list", "steps-fell": "common_steps"},
        ),
        "the first file to everyone": Lazy(
            f"return {PARTS}[:1]",
            {
                "overlap": "samples read by more than one rank",
                "cover": "that no rank read",
                "learnt": "test accuracy",
            },
        ),
        "each rank lists the folder itself": Lazy(
            f"return {PARTS}{MINE}", {"overlap": "ranks that listed the files: 2 ranks"}
        ),
        "names known by heart": Lazy(
            f"return [f'part_{{n:02d}}.npz' for n in range(8)]{MINE}",
            {"overlap": "ranks that listed the files: 0 ranks"},
        ),
        "all files on rank 0, one on the others": Lazy(
            f"return {PARTS}[: 8 if hvd.rank() == 0 else 1]",
            {
                "overlap": "samples read by more than one rank",
                "cover": "different samples read",
                "learnt": "test accuracy",
            },
        ),
    },
    "train.py 8.4": {
        "1": Lazy(
            "return 1",
            {
                "cover": "different samples read",
                "equal-steps": "the minimum over the ranks",
                "learnt": "on all steps",
                "steps-fell": "common_steps with the ranks' own counts",
            },
        ),
        "the most": Lazy(
            "return max(math.ceil(count / batch) for count in counts)",
            {"equal-steps": "steps that all ranks can make, images 3200 and 2400: 100 steps"},
        ),
        "that of the first rank": Lazy(
            "return math.ceil(counts[0] / batch)",
            {"equal-steps": "steps that all ranks can make, images 3200 and 2400: 100 steps"},
        ),
        "a constant": Lazy(
            "return 25", {"equal-steps": "steps that all ranks can make, images 3200 and 2400: 25"}
        ),
        "whole batches": Lazy(
            "return min(counts) // batch",
            {"equal-steps": "steps that all ranks can make, images 101 and 100: 3 steps"},
        ),
    },
    "make_parts.py 8.1": {
        "the same images in all": Lazy(
            "return [np.arange(len(labels) // parts)] * parts",
            {
                "overlap": "images read by more than one rank",
                "cover": "images that no rank read",
                "learnt": "test accuracy",
            },
        ),
        "sorted by class": Lazy(
            "return np.array_split(np.argsort(labels, kind='stable'), parts)",
            {"cover": "difference in a class's share"},
        ),
        "as they come": Lazy(
            "return np.array_split(np.arange(len(labels)), parts)",
            {"cover": "difference in a class's share"},
        ),
        "the rest dropped": Lazy(
            "return [np.arange(part, 800, parts) for part in range(parts)]",
            {"cover": "samples that no rank read"},
        ),
        "all in the first": Lazy(
            "return [np.arange(len(labels))] + [np.arange(0)] * (parts - 1)",
            dict.fromkeys(TOGETHER, ""),
            start="fails",
        ),
    },
}
