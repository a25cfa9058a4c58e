# Start and stop five kinds of daemons. A file holds the process id of each.
# shellcheck shell=bash

# The process id may belong to another program by now, so look at the command line as well. It is
# empty for a moment while the process starts its program, so look up to three times.
running() {
    local pid
    pid=$(cat "$RUN/$1.pid" 2>/dev/null) || return 1
    for _ in {1..3}; do
        ! grep -qa -e "$1" "/proc/$pid/cmdline" 2>/dev/null || return 0
        sleep 0.01
    done
    return 1
}

controller_running() { running slurmctld; }

# start NAME COMMAND…: start a daemon in the background, with a clean environment, detached from this
# terminal. All other open files are closed, because the daemon would keep a caller's lock (`flock
# FILE make box-up`) or pipe for as long as it runs.
start() {
    local name=$1 open
    shift
    (
        cd /
        for open in "/proc/$BASHPID/fd"/*; do
            ((${open##*/} <= 2)) || eval "exec ${open##*/}>&-"
        done
        exec env -i PATH="$PATH" LANG=C.UTF-8 SLURM_CONF="$SLURM_CONF" MYSQL_UNIX_PORT="$RUN/mariadb/socket" \
            setsid "$@" </dev/null >>"$LOG/$name.log" 2>&1
    ) &
    echo $! >"$RUN/$name.pid"
    for _ in {1..100}; do # until it has become the daemon, unless it has ended already
        ! running "$name" || return 0
        sleep 0.01
    done
}

# stop NAME…: end the daemons one by one; kill a daemon that has not ended after ten seconds.
stop() {
    local name pid end
    for name in "$@"; do
        if running "$name"; then
            pid=$(cat "$RUN/$name.pid")
            end=$((SECONDS + 10))
            kill "$pid"
            while running "$name"; do
                ((SECONDS < end)) || kill -9 "$pid"
                sleep 0.05
            done
        fi
        rm -f "$RUN/$name.pid"
    done
}

as_user() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }

# The box has its own munge with its own key, and leaves any other munge alone.
start_munge() {
    running munged && return
    [ -e "$STATE/munge/key" ] || as_user munge mungekey --create --keyfile="$STATE/munge/key"
    start munged setpriv --reuid munge --regid munge --clear-groups munged --foreground --force \
        --key-file="$STATE/munge/key" --socket="$RUN/munge/socket" --pid-file="$RUN/munge/pid" \
        --seed-file="$STATE/munge/seed" --log-file="$LOG/munged.log"
    wait_for munged 10 "Munge does not answer" munge --no-input --socket="$RUN/munge/socket"
}

# The database has no network port and no password: user slurm connects through the socket.
start_database() {
    running mariadbd && return
    if [ ! -d "$STATE/mariadb/mysql" ]; then
        say "Making the accounting database …"
        # A thousand small writes that need not reach the disk one by one: nothing is lost if they fail.
        LD_PRELOAD=libeatmydata.so mariadb-install-db --no-defaults --datadir="$STATE/mariadb" --user=slurm --skip-test-db \
            --auth-root-authentication-method=socket --auth-root-socket-user=slurm \
            >"$LOG/mariadb-install.log" 2>&1 ||
            { rm -rf "$STATE/mariadb" && fail "The accounting database could not be made; see $LOG/mariadb-install.log"; }
        sync --file-system "$STATE/mariadb"
    fi
    start mariadbd mariadbd --no-defaults --user=slurm --datadir="$STATE/mariadb" --skip-networking \
        --socket="$RUN/mariadb/socket" --pid-file="$RUN/mariadb/pid" \
        --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900
    wait_for mariadbd 60 "The accounting database does not answer" \
        as_user slurm mariadb --no-defaults --socket="$RUN/mariadb/socket" --execute "select 1"
}

sql() {
    as_user slurm mariadb --no-defaults --socket="$RUN/mariadb/socket" --skip-column-names \
        --execute "$1" slurm_accounting 2>/dev/null
}

start_accounting() {
    running slurmdbd && return
    start slurmdbd unshare --uts sh -c "hostname $CONTROLLER && exec slurmdbd -D"
    wait_for slurmdbd 30 "Slurm's accounting does not answer" sacctmgr -n list cluster
    if [ -z "$(sacctmgr -n list cluster "$CLUSTER")" ]; then
        sacctmgr -i -Q add cluster "$CLUSTER" >/dev/null
    fi
}

start_controller() {
    running slurmctld && return
    start slurmctld unshare --uts sh -c "hostname $CONTROLLER && exec slurmctld -D"
    wait_for slurmctld 30 "Slurm's controller does not answer" sh -c 'scontrol ping | grep -q "is UP"'
}

# A node has its own host name, process table, /tmp and /dev/shm, like a machine. Its processes end
# when it ends, and the other nodes do not see its /tmp.
start_nodes() {
    local name
    for name in $(node_names); do
        running "$name" && continue
        report_lost_jobs "$name"
        start "$name" unshare --uts --mount --pid --fork --kill-child --mount-proc \
            bash "$BOX_CODE/node.sh" "$name" "$COURSE" "${COURSE_DATA:-}"
    done
}

# The jobs of a node that died have ended too, but Slurm would count them as running for half an hour.
# Once it knows, it queues them again, or ends them as NODE_FAIL if they forbid that.
report_lost_jobs() {
    if [ -n "$(timeout 10 squeue -h -w "$1" -t running,completing)" ]; then
        timeout 10 scontrol update nodename="$1" state=down reason="restarted by box up"
    fi
}

stop_nodes() {
    local name
    for name in $(node_names); do
        ! running "$name" || kill -9 "$(cat "$RUN/$name.pid")"
    done
    for name in $(node_names); do
        while running "$name"; do sleep 0.05; done
        rm -f "$RUN/$name.pid"
    done
    delete_memory_cgroups
}

# Slurm leaves them behind. The kernel refuses to delete one that still has processes.
delete_memory_cgroups() {
    local name
    for name in $(node_names); do
        [ ! -d "$CGROUPS/slurm_$name" ] || find "$CGROUPS/slurm_$name" -depth -type d -exec rmdir {} + || true
    done
}

# Print NAME REASON for each node that was drained, by an administrator or by Slurm.
drained_nodes() { timeout 5 sinfo -h -N -t drain -o '%N %E' | sort -u; }

resume_nodes() {
    local name reason
    while read -r name reason; do
        scontrol update nodename="$name" state=resume
        say "$name accepts jobs again. It was drained: $reason"
    done < <(drained_nodes)
}

wait_for_nodes() {
    local ready=(timeout 5 sinfo -h -N -t "idle,mixed,allocated,completing" -o %N) name
    [ "$("${ready[@]}" | sort -u | wc -l)" != "$NODES" ] || return 0
    for name in $(node_names); do
        wait_for "$name" 30 "$name does not register with Slurm" \
            sh -c "${ready[*]@Q} -n $name | grep -q ."
    done
}

# Cancel all jobs, so that the accounting records how they ended.
cancel_jobs() {
    controller_running && running slurmdbd || return 0
    local end=$((SECONDS + 20)) jobs
    while jobs=$(timeout 10 squeue -h -o %A | sort -u) && [ -n "$jobs" ] && ((SECONDS < end)); do
        xargs timeout 10 scancel <<<"$jobs" || true
        sleep 0.3
    done
}
