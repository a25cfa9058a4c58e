# Folders, configuration files, and the three changes to the machine.
# shellcheck shell=bash

refuse_clashes() {
    if [ -e "$SLURM_LINK" ] || [ -L "$SLURM_LINK" ]; then
        [ "$(readlink "$SLURM_LINK")" = "$SLURM_CONF" ] ||
            fail "This machine has a Slurm already ($SLURM_LINK is not the box's): the box keeps away from it; use another machine, or write a site file for this Slurm from cluster/sites/template.sh."
    fi
    local name served
    served=$(sed -n 's/^setenv("COURSE_HOME", "\(.*\)")/\1/p' "$STATE/modules/dl-course/1.0.lua" 2>/dev/null) || true
    if controller_running && [ "$served" != "$COURSE" ]; then
        fail "The box is up for the course in $served: take it down first (box-down) to serve $COURSE."
    fi
    for name in $(node_names) "$CONTROLLER"; do
        grep -v "$HOSTS_MARK" "$HOSTS" | grep -qw "$name" &&
            fail "$HOSTS gives the name $name to another machine: the box needs that name; remove the line or use another machine."
    done
    running slurmctld || ! port_taken 6817 ||
        fail "Another program listens on port 6817 (a Slurm controller?): stop it first; the box needs $CONTROLLER_ADDRESS:6817."
    running slurmdbd || ! port_taken 6819 ||
        fail "Another program listens on port 6819 (a Slurm database daemon?): stop it first; the box needs $CONTROLLER_ADDRESS:6819."
}

# Whether a program listens on this port, on the box's own address or on all addresses.
port_taken() { ss -Hltn "sport = :$1" | awk '{print $4}' | grep -qE "^(0\.0\.0\.0|\*|\[::\]|${CONTROLLER_ADDRESS//./\\.}):"; }

make_folders() {
    install -d -m 755 "$STATE" "$ETC" "$RUN" "$RUN/dev" "$STATE/modules/dl-course"
    install -d -m 750 -o slurm -g adm "$LOG"
    install -d -m 700 -o slurm "$STATE/slurmctld" "$STATE/mariadb"
    install -d -m 700 -o munge "$STATE/munge"
    install -d -m 755 -o munge "$RUN/munge"
    install -d -m 700 -o slurm "$RUN/mariadb"
    local name gpu
    for name in $(node_names); do install -d -m 755 "$STATE/spool/$name"; done
    for gpu in $(seq 0 $((NODE_GPUS - 1))); do
        # Slurm drains a node whose GPUs have no device file; these are copies of /dev/null.
        [ -e "$RUN/dev/nvidia$gpu" ] || mknod -m 666 "$RUN/dev/nvidia$gpu" c 1 3 ||
            fail "Device files cannot be made here (mknod refused): give the container more rights (docker run --privileged), or use 'cluster use laptop'."
    done
}

# The nodes' daemons have their own configuration, which makes them listen on their own address only.
# Programs need another one, because nodes must be able to call srun back on any address.
write_configuration() {
    local next_job
    next_job=$(sql "select greatest(ifnull(max(id_job), 0) + 1, $FIRST_JOB) from ${CLUSTER}_job_table") || true
    install -d -m 755 "$ETC/node"
    local common=(NEXT_JOB="${next_job:-$FIRST_JOB}" TASK_PLUGIN=task/cgroup MEMORY_CHECK=)
    can_make_memory_cgroups || common+=(TASK_PLUGIN=task/none MEMORY_CHECK=,OverMemoryKill)
    fill slurm.conf LISTEN=NoCtldInAddrAny "${common[@]}" >"$ETC/slurm.conf"
    fill slurm.conf LISTEN=NoInAddrAny "${common[@]}" >"$ETC/node/slurm.conf"
    fill cgroup.conf | tee "$ETC/cgroup.conf" >"$ETC/node/cgroup.conf"
    fill gres.conf | tee "$ETC/gres.conf" >"$ETC/node/gres.conf"
    fill slurmdbd.conf | install -m 600 -o slurm /dev/stdin "$ETC/slurmdbd.conf"
    fill profile.sh >"$ETC/profile.sh"
    install -m 755 "$BOX_CODE"/templates/{epilog,task_prolog}.sh "$ETC"
}

# On every `up`, because the environment may have been made since the last one.
write_module() {
    local library= module=$STATE/modules/dl-course/1.0.lua # library: of an interpreter that is lent
    local data=${COURSE_DATA:-}
    [ ! -e "$LENT_VENV/bin/python" ] || library=$LENT_PYTHON/lib
    if [ -z "$data" ] && controller_running; then # it goes on with the folder that it has
        data=$(sed -n 's/^ *setenv("COURSE_DATA", "\(.*\)")/\1/p' "$module" 2>/dev/null) || true
    fi
    fill dl-course.lua VENV="$(student_venv)" COURSE_DATA="$data" PYTHON_LIBRARY="$library" >"$module.new"
    mv "$module.new" "$module"
}

# Where the box can make memory cgroups (version 1), the kernel ends a job at its memory limit.
# Elsewhere Slurm checks every few seconds.
can_make_memory_cgroups() {
    mkdir "$CGROUPS/dl-course-box" 2>/dev/null && rmdir "$CGROUPS/dl-course-box"
}

memory_limits() {
    if grep -q OverMemoryKill "$SLURM_CONF"; then
        say "memory limits: checked every 5 s, because the box cannot make memory cgroups (version 1) here"
    else
        say "memory limits: enforced by the kernel (cgroups)"
    fi
}

# fill TEMPLATE [NAME=VALUE…]: print the template with each @NAME@ replaced by that setting.
fill() {
    local template=$BOX_CODE/templates/$1 name script=''
    shift
    if (($#)); then local "$@"; fi
    while read -r name; do
        script+="s|@$name@|${!name}|g;"
    done < <(grep -oE '@[A-Z_]+@' "$template" | tr -d @ | sort -u)
    sed "$script" "$template"
}

# /etc/hosts is written in place, because in a container it is a mount and cannot be replaced.
join_machine() {
    local lines
    lines=$(
        printf '%s %s %s\n' "$CONTROLLER_ADDRESS" "$CONTROLLER" "$HOSTS_MARK"
        for i in $(seq 1 "$NODES"); do printf '%s.%d node%02d %s\n' "$NET" "$i" "$i" "$HOSTS_MARK"; done
    )
    if [ "$(grep "$HOSTS_MARK" "$HOSTS")" != "$lines" ]; then
        printf '%s\n' "$(sed "/$HOSTS_MARK/d" "$HOSTS")" "$lines" | write_in_place "$HOSTS"
    fi
    install -d /etc/slurm
    ln -sfn "$SLURM_CONF" "$SLURM_LINK"
    ln -sfn "$ETC/profile.sh" "$PROFILE_LINK"
}

leave_machine() {
    if grep -q "$HOSTS_MARK" "$HOSTS"; then
        sed "/$HOSTS_MARK/d" "$HOSTS" | write_in_place "$HOSTS"
    fi
    local link
    for link in "$SLURM_LINK" "$PROFILE_LINK"; do
        case $(readlink "$link") in "$STATE"/*) rm -f "$link" ;; esac
    done
}

# The file is never empty, because another program may look up localhost at that moment.
write_in_place() {
    local text LC_ALL=C
    text=$(cat)
    printf '%s\n' "$text" | dd of="$1" conv=notrunc bs=1M iflag=fullblock status=none
    truncate -s "$((${#text} + 1))" "$1"
}
