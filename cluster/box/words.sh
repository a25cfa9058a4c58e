# Messages and waiting. Every wait has a time limit, and its message names a log.
# shellcheck shell=bash

say() { printf '%s\n' "$*"; }
fail() {
    printf 'box: %s\n' "$*" >&2
    exit 1
}

need_root() {
    [ "$(id -u)" = 0 ] ||
        fail "'box $1' needs root, to install and start Slurm: run it with sudo, or do without the box: 'cluster use laptop' runs the same job files here."
}

# Daemons must not inherit the lock: start() closes descriptor 9.
one_at_a_time() {
    install -d -m 755 "$STATE"
    exec 9>"$STATE/lock"
    flock -w 60 9 || fail "Another box command has been running for a minute (lock: $STATE/lock); wait for it, then try again."
}

# wait_for NAME SECONDS SENTENCE COMMAND…: wait until COMMAND succeeds, while the daemon NAME runs.
wait_for() {
    local name=$1 seconds=$2 sentence=$3 log=$LOG/$1.log
    shift 3
    local end=$((SECONDS + seconds))
    until "$@" >/dev/null 2>&1; do
        running "$name" || fail "$sentence: $name has ended; its last words in $log: $(tail -n 1 "$log" 2>/dev/null)"
        ((SECONDS < end)) || fail "$sentence, after $seconds s of waiting; see $log"
        sleep 0.1
    done
}
