# What every job does on every site: `facts`, then `launch PROGRAM …`. Sourced by the site files.

export COURSE_SITE_NAME=$SITE_NAME COURSE_SCHEDULER=$SITE_SCHEDULER

# One line a fact, so that a reader of the output knows where and how the job ran.
facts() {
    local folder=${SLURM_SUBMIT_DIR:-$PWD}
    local revision changed
    revision=$(git -C "$folder" rev-parse --short HEAD 2>/dev/null || echo none)
    changed=$(git -C "$folder" status --porcelain --untracked-files=no 2>/dev/null || true)
    echo "site: $SITE_NAME ($SITE_SCHEDULER)"
    echo "job: ${SLURM_JOB_ID:-none} ${SLURM_JOB_NAME:-}"
    echo "nodes: ${SLURM_NNODES:-1} (${SLURM_JOB_NODELIST:-$(hostname)})"
    echo "ranks: ${SLURM_NTASKS:-1}"
    echo "cores a rank: ${SLURM_CPUS_PER_TASK:-1}"
    echo "gpus on this node: $(site_gpus)"
    echo "launcher: ${LAUNCHER:-$SITE_LAUNCHER}"
    echo "modules: ${LOADEDMODULES:-none}"
    echo "git: $revision${changed:+ with changes}"
    echo "python: $(command -v python || echo none)"
    echo "started: $(date +%Y-%m-%dT%H:%M:%S%z)"
}

site_gpus() {
    if command -v nvidia-smi >/dev/null 2>&1; then
        nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c |
            sed 's/^ *//' | paste -sd ';' - || echo none
    else
        echo none
    fi
}

# Runs the program on all ranks of the job. A launcher and an MPI that do not fit start N programs
# that each believe to be alone, with exit code 0; so the ranks are counted first.
launch() {
    local ranks=${SLURM_NTASKS:-1} status=0
    if [ "$ranks" -gt 1 ] && [ "${LAUNCHER:-$SITE_LAUNCHER}" != horovodrun ]; then
        launch_ranks "$ranks" python -c "$COUNT_RANKS" "$ranks" || {
            status=$?
            echo "launch: the program was not started: see above" >&2
            return $status
        }
    fi
    launch_ranks "$ranks" "$@" || status=$?
    # The laptop's accounting: the highest exit code of a step, as in Slurm.
    [ -n "${COURSE_JOB_FOLDER:-}" ] && echo "$status" >>"$COURSE_JOB_FOLDER/steps"
    return $status
}

COUNT_RANKS='
import sys
asked = int(sys.argv[1])
try:
    from mpi4py import MPI
except ImportError:
    sys.exit(0)
world = MPI.COMM_WORLD
if world.size != asked:
    sys.exit(f"launch: {asked} ranks asked for, but MPI has a world of {world.size}: "
             "launcher and MPI do not fit (srun --mpi=list; cluster doctor)")
if world.rank == 0:
    print(f"launch: {world.size} ranks in one MPI world", flush=True)
'
