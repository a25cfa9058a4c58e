"""Print a line of JSON about this machine, after a matrix product and a convolution on its GPU."""

import json
import os
import platform
import subprocess
import sys

import numpy
import torch

QUERY = "name,driver_version,compute_mode,mig.mode.current,memory.total"


def machine() -> dict[str, object]:
    facts = {"python": platform.python_version(), "numpy": numpy.__version__}
    facts |= {"torch": torch.__version__, "cores": len(os.sched_getaffinity(0))}
    if os.environ.get("COURSE_DEVICE") == "cpu":
        return facts | {"gpu": "none: COURSE_DEVICE=cpu"}
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU here. To try the script itself, set COURSE_DEVICE=cpu.")
    x = torch.randn(4096, 4096, device="cuda")  # cuBLAS
    image = torch.randn(2, 3, 8, 8, device="cuda")  # cuDNN
    sums = [(x @ x).sum().item(), torch.nn.Conv2d(3, 8, 3).cuda()(image).sum().item()]
    smi = ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader"]
    return facts | {
        "gpu": subprocess.run(smi, capture_output=True, text=True, check=True).stdout.strip(),
        "cuda": torch.version.cuda,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        "architectures": " ".join(torch.cuda.get_arch_list()),
        "sums": sums,
    }


if __name__ == "__main__":
    print(json.dumps(machine()))
