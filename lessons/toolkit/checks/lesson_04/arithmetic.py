"""Check bytes and operations per second (4.4)."""

from lessons.toolkit.checks.shared.check import Function, check_number, exercise


@exercise("4.4")
def check_4_4(gigabytes_per_s: Function, gigaflops: Function) -> str:
    """Bytes and operations per second come from sizes and seconds."""
    for n, seconds in ((100_000_000, 0.12), (1_000_000, 0.0004)):
        right = 12 * n / seconds / 1e9
        mistakes = {
            right / 3: "Which arrays does the addition read, and which does it write?",
            right * 2 / 3: "The result is written too.",
            right * 2: "A float32 has 4 bytes; a float64 has 8.",
            right / 4: "A float32 has 4 bytes.",
            right * 1e9: "Giga: divide by 1e9.",
            right * 1e9 / 2**30: "GB is 10⁹ bytes; 2³⁰ is a GiB.",
        }
        check_number(gigabytes_per_s, "gigabytes_per_s", (n, seconds), right, mistakes)
    for n, seconds in ((2048, 0.2), (1000, 0.04)):
        right = 2 * n**3 / seconds / 1e9
        mistakes = {
            right / 2: "What happens to each product after the multiplication?",
            right / n: "That is one operation for each of the n² results. How many does one need?",
            right * 1e9: "Giga: divide by 1e9.",
        }
        check_number(gigaflops, "gigaflops", (n, seconds), right, mistakes)
    return "10 GB/s, and 86 GFLOP/s for n = 2,048 in 0.2 s."
