# What every job does on every site: `facts`, then `launch PROGRAM …`. Sourced by the site files.

export COURSE_SITE_NAME=$SITE_NAME COURSE_SCHEDULER=$SITE_SCHEDULER
sites_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
container=() # the words in front of a program that runs in an image; `launch` fills it
# By default TensorFlow uses oneDNN only on processors with AVX512_VNNI. Without it, a step of
# ResNet50V2 on 32 x 32 images took six times as long on an EPYC of 2021.
export TF_ENABLE_ONEDNN_OPTS=${TF_ENABLE_ONEDNN_OPTS:-1}
# Hide TensorFlow's notes, but not its warnings and errors, so that a job's own error is visible.
export TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-1}

# Print one line per fact, so that a reader of the output knows where and how the job ran.
facts() {
    local folder=${SLURM_SUBMIT_DIR:-$PWD} revision changed
    revision=$(git -C "$folder" rev-parse --short HEAD 2>/dev/null || echo none)
    changed=$(git -C "$folder" status --porcelain --untracked-files=no 2>/dev/null || true)
    echo "site: $SITE_NAME ($SITE_SCHEDULER)"
    echo "job: ${SLURM_JOB_ID:-none} ${SLURM_JOB_NAME:-}"
    echo "nodes: ${SLURM_NNODES:-1} (${SLURM_JOB_NODELIST:-$(hostname)})"
    echo "ranks: ${SLURM_NTASKS:-1}"
    echo "cores per rank: ${SLURM_CPUS_PER_TASK:-1}"
    echo "gpus on this node: $(gpu_names)"
    echo "launcher: ${LAUNCHER:-$SITE_LAUNCHER}${COURSE_IMAGE:+ in $COURSE_IMAGE}"
    echo "modules: ${LOADEDMODULES:-none}"
    echo "git: $revision${changed:+ with changes}"
    echo "python: $(command -v python || echo none)"
    echo "started: $(date +%Y-%m-%dT%H:%M:%S%z)"
}

gpu_names() {
    local names
    names=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c) || true
    if [ -n "$names" ]; then tr -s '\n ' '; ' <<<"$names" | sed 's/^[; ]*//; s/[; ]*$//'; else echo none; fi
}

# launch PROGRAM …: run the program on all ranks of the job.
# LAUNCHER=torchrun or LAUNCHER=horovodrun uses that launcher instead of the site's.
# COURSE_IMAGE=FILE.sif runs every rank in that image: docs/install-cluster.md.
# After LEAVE_S=180, the next program is ended 180 s before the job's time limit, or after four fifths of
# what is left if that is later, so that another one, such as a test of a training that hangs, can run.
launch() {
    local ranks=${SLURM_NTASKS:-1} status=0 container=() PATH=$PATH deadline=0 left
    if [ -n "${LEAVE_S:-}" ] && [ -n "${SLURM_JOB_END_TIME:-}" ]; then
        left=$((SLURM_JOB_END_TIME - $(date +%s)))
        [ "$LEAVE_S" -le $((left / 5)) ] || LEAVE_S=$((left / 5))
        if [ "$left" -gt 0 ]; then
            deadline=$((SLURM_JOB_END_TIME - LEAVE_S))
            set -- timeout --kill-after=10 "$((left - LEAVE_S))" "$@"
        fi
    fi
    own_environment "$@"
    if container_words; then
        case ${LAUNCHER:-$SITE_LAUNCHER} in
            torchrun) with_torchrun "$ranks" "$@" || status=$? ;;
            horovodrun) with_horovodrun "$ranks" "$@" || status=$? ;;
            *)
                ranks_are_one_world "$ranks" "$@" &&
                    launch_ranks "$ranks" "${container[@]}" "$@" || status=$?
                ;;
        esac
    else
        status=1
    fi
    if [ "$deadline" != 0 ] && [ "$status" != 0 ] && [ "$(date +%s)" -ge "$deadline" ]; then
        echo "launch: the program was ended $LEAVE_S s before the job's time limit"
    fi
    LEAVE_S=
    return $status
}

# Where each framework has its own environment (docs/install-cluster.md), TensorFlow programs start in
# theirs. All other programs, and all commands, use COURSE_ENVIRONMENT.
own_environment() {
    local word
    [ -n "${COURSE_ENVIRONMENT_TENSORFLOW:-}" ] || return 0
    if word=$(that_imports 'tensorflow|keras|tf_keras|horovod\.tensorflow' "$@"); then
        export PATH=$COURSE_ENVIRONMENT_TENSORFLOW/bin:$PATH
        echo "launch: $word imports TensorFlow: $COURSE_ENVIRONMENT_TENSORFLOW"
    fi
}

# that_imports PACKAGES WORD …: print the first program among the words that imports one of them.
that_imports() {
    local word files
    for word in "${@:2}"; do
        [[ $word == *.py ]] || continue
        mapfile -t files < <(with_modules_beside "$word")
        if grep -qsE "^ *(import|from) +($1)\b" "${files[@]}"; then echo "$word" && return; fi
    done
    return 1
}

# Print a program and the modules in its folder that it imports, because they may import a framework.
with_modules_beside() {
    local at name file files=("$1")
    for ((at = 0; at < ${#files[@]}; at++)); do
        for name in $(sed -nE 's/^ *(import|from) +(\w+).*/\2/p' "${files[at]}" 2>/dev/null); do
            file=$(dirname "$1")/$name.py
            [[ ! -f $file || " ${files[*]} " == *" $file "* ]] || files+=("$file")
        done
    done
    printf '%s\n' "${files[@]}"
}

# in_container PROGRAM …: run the program once, on this node, in the image that COURSE_IMAGE names.
in_container() {
    local container=()
    container_words && "${container[@]}" "$@"
}

# Set `container`, the words in front of a program that runs in an image; empty without an image.
container_words() {
    [ -n "${COURSE_IMAGE:-}" ] || return 0
    read -ra container <<<"${SITE_CONTAINER:-}"
    if [ ${#container[@]} = 0 ]; then
        echo "launch: site $SITE_NAME has no SITE_CONTAINER, so COURSE_IMAGE cannot be used here" >&2
    elif ! command -v "${container[0]}" >/dev/null; then
        echo "launch: COURSE_IMAGE is set, but ${container[0]} is not on $(hostname); is it a module?" >&2
    elif [[ $COURSE_IMAGE == *.sif && ! -f $COURSE_IMAGE ]]; then
        echo "launch: there is no image $COURSE_IMAGE; docs/install-cluster.md says how it is made" >&2
    else
        # The image sees your home, this folder and /tmp. Data sets are elsewhere.
        local folder seen=
        for folder in "${COURSE_DATA:-}" "${COURSE_DATA_CACHE:-}" "$SITE_SCRATCH"; do
            [ ! -d "$folder" ] || [ "$folder" = /tmp ] || seen+=${seen:+,}$folder
        done
        export APPTAINER_BIND=${APPTAINER_BIND:-$seen}
        export SINGULARITY_BIND=${SINGULARITY_BIND:-$APPTAINER_BIND} # what older releases read
        container+=("$COURSE_IMAGE")
        [ "$SITE_SCHEDULER" != slurm ] || container=("$sites_folder/into_image.sh" "${container[@]}")
        return 0
    fi
    return 1
}

# A launcher and an MPI that do not match start N independent programs, with exit code 0. Therefore
# the ranks are counted before the program starts: by MPI if the program uses it, otherwise by the
# launcher's variables.
ranks_are_one_world() {
    local counts="the launcher"
    [ "$1" -gt 1 ] || return 0
    ! that_imports 'mpi4py|horovod' "${@:2}" >/dev/null || counts=MPI
    launch_ranks "$1" "${container[@]}" python -c '
import sys
asked, counts, missing = int(sys.argv[1]), sys.argv[2], ""
try:
    if counts == "MPI":
        from mpi4py import MPI
        rank, found = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
except ImportError:
    counts, missing = "the launcher", ", because mpi4py cannot be imported"
try:
    if counts == "the launcher":
        from cluster.launchers import launched
        rank, found = (me.rank, me.size) if (me := launched()) else (0, 1)
except ImportError:  # the run record still carries the number of ranks
    sys.exit(print("launch: the ranks are not counted, because cluster cannot be imported"))
if found != asked:
    sys.exit(f"launch: {asked} ranks were asked for, but {counts} sees {found}: the launcher and "
             "this MPI do not fit together (srun --mpi=list shows the plug-ins)")
if rank == 0:
    where = "in one MPI world" if counts == "MPI" else "as the launcher counts"
    print(f"launch: {found} ranks {where}{missing}", flush=True)
' "$1" "$counts" || {
        local status=$?
        echo "launch: the ranks could not be started together, so the program was not run" >&2
        return $status
    }
}

with_horovodrun() {
    if [ ${#container[@]} != 0 ] && [ "${SLURM_NNODES:-1}" -gt 1 ]; then
        echo "launch: horovodrun reaches other nodes by ssh, where no image is; leave LAUNCHER unset" >&2
        return 1
    fi
    "${container[@]}" horovodrun --gloo -np "$1" -H "$(host_slots "$1")" "${@:2}"
}

host_slots() { # node01:2,node02:2
    local host nodes=${SLURM_NNODES:-1} slots=()
    [ "$nodes" -gt 1 ] || { echo "localhost:$1" && return; }
    for host in $(hosts); do slots+=("$host:$(($1 / nodes))"); done
    (IFS=, && echo "${slots[*]}")
}

with_torchrun() {
    local nodes=${SLURM_NNODES:-1} each=()
    [ "$nodes" = 1 ] || each=(launch_nodes "$nodes")
    # torchrun compares the address with the node's name and gives that name to the ranks. Where the
    # fast network has names of its own, no node would find itself.
    [ "$nodes" = 1 ] || [ -z "${SITE_MASTER_SUFFIX:-}" ] || each+=(bash -c '
        export PET_RDZV_CONF=is_host=$((SLURM_NODEID == 0)) PET_LOCAL_ADDR=$(hostname -s)$0
        exec "$@"' "$SITE_MASTER_SUFFIX")
    "${each[@]}" "${container[@]}" torchrun --nnodes="$nodes" --nproc-per-node="$(($1 / nodes))" \
        --rdzv-backend=c10d --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" --rdzv-id="${SLURM_JOB_ID:-0}" \
        --no-python "${@:2}"
}

# The two ways to start programs under Slurm. Other sites define their own.
# launch_ranks N PROGRAM …: run N ranks of the program on the job's nodes.
# launch_nodes N PROGRAM …: run the program once on each of the job's N nodes, which gets the cores
# and GPUs of all ranks there.
# --cpus-per-task: srun no longer inherits it. --kill-on-bad-exit: if one rank dies, the others end.
if [ "$SITE_SCHEDULER" = slurm ]; then
    declare -F launch_ranks >/dev/null || launch_ranks() {
        # shellcheck disable=SC2086 # several words
        srun ${SITE_SRUN_OPTIONS:-} --ntasks="$1" --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
            --kill-on-bad-exit=1 "${@:2}"
    }
    declare -F launch_nodes >/dev/null || launch_nodes() {
        srun --ntasks-per-node=1 --ntasks="$1" --cpu-bind=none --gpu-bind=none --kill-on-bad-exit=1 \
            --cpus-per-task="$((${SLURM_NTASKS:-$1} * ${SLURM_CPUS_PER_TASK:-1} / $1))" "${@:2}"
    }
fi

# Print the path of the site's own program where the course's environment has one of the same name.
sites_own() {
    local place own=
    while read -r place; do
        [ "$place" = "${COURSE_ENVIRONMENT:-}/bin/$1" ] || { own=$place && break; }
    done < <(type -ap "$1")
    echo "${own:-$1}"
}

hosts() { # the job's nodes, one a line
    case $SITE_SCHEDULER in
        slurm) scontrol show hostnames "$SLURM_JOB_NODELIST" ;;
        pbs) sort -u "$PBS_NODEFILE" ;;
        *) hostname ;;
    esac
}

# Outside a job: salloc does not read SBATCH_…, so give it the site's account, partition and GPUs too.
if [ -z "${SLURM_JOB_ID:-}" ] && [ "$SITE_SCHEDULER" = slurm ]; then
    for name in "${!SBATCH_@}"; do
        export "SALLOC_${name#SBATCH_}=${!name}"
    done
    unset name
fi

# Only inside a job: where the ranks meet, the software, the threads, the course's environment.
if [ -n "${SLURM_JOB_ID:-}" ]; then
    if [ "${SLURM_NNODES:-1}" -gt 1 ]; then
        MASTER_ADDR=$(hosts | head -n 1)${SITE_MASTER_SUFFIX:-}
    else
        MASTER_ADDR=127.0.0.1
    fi
    # No other job has the same number, except on a laptop, where every queue begins at 1.
    port=${SLURM_JOB_ID//[!0-9]/}
    [ "$SITE_SCHEDULER" != laptop ] || port=$$
    # The system hands out ports from 32768 on to any program.
    export MASTER_ADDR MASTER_PORT=$((20000 + 10#$port % 12000))
    # Inherited from the session that submitted the job: cores that this job does not have.
    case ${SLURM_CPU_BIND:-} in *mask* | *map*) unset "${!SLURM_CPU_BIND@}" ;; esac
    if declare -F load_software >/dev/null; then
        shell_options=$- && set +eu # module systems are not written for `set -eu`
        load_software || {
            echo "site $SITE_NAME: the software could not be loaded; which modules clash or have gone: module spider NAME, then $SITE_NAME.sh" >&2
            exit 1
        }
        # Modules that contain Python would put their packages before the environment's.
        [ -z "${COURSE_ENVIRONMENT:-}" ] || unset PYTHONPATH PYTHONHOME
        case $shell_options in *e*) set -e ;; esac
        case $shell_options in *u*) set -u ;; esac
    fi
    # The Open MPI of the course's environment starts only through PMIx, often not Slurm's default.
    if [ "$SITE_SCHEDULER" = slurm ] && [ -x "${COURSE_ENVIRONMENT:-}/bin/mpirun" ]; then
        # Without an answer, the job goes on with Slurm's default.
        plug_ins=" $( (timeout 10 srun --mpi=list 2>&1 || true) | tr -s '[:space:]' ' ') "
        [[ $plug_ins != *" pmix "* ]] || export SLURM_MPI_TYPE=${SLURM_MPI_TYPE:-pmix}
    fi
    # On an H100, TensorFlow 2.21 compiles its kernels at the first start, which takes minutes. They
    # need more than the usual 1 GB, and often more than is left in a home.
    cache=$SITE_SCRATCH/cuda-cache-$(id -un)
    if mkdir -p "$cache" 2>/dev/null && [ -O "$cache" ]; then
        export CUDA_CACHE_PATH=${CUDA_CACHE_PATH:-$cache}
    fi
    export CUDA_CACHE_MAXSIZE=${CUDA_CACHE_MAXSIZE:-4294967296} # bytes
    # One thread per core of the rank, not one for every core of the node.
    threads=${OMP_NUM_THREADS:-${SLURM_CPUS_PER_TASK:-1}}
    export OMP_NUM_THREADS=$threads
    export TF_NUM_INTRAOP_THREADS=${TF_NUM_INTRAOP_THREADS:-$threads}
    export TF_NUM_INTEROP_THREADS=${TF_NUM_INTEROP_THREADS:-1}
    [ -z "${COURSE_ENVIRONMENT:-}" ] || export PATH="$COURSE_ENVIRONMENT/bin:$PATH"
fi
