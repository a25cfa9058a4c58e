#!/bin/bash
# Runs after a job on each of its nodes: kill the processes that it left, and delete its files in
# shared memory. Slurm itself follows parents and misses processes that detached themselves.

# This script has the job's number in its environment too. After a job of root it would kill itself,
# and Slurm drains a node whose epilog fails.
spared=' '
for ((process = $$; process > 1; process = $(awk '/^PPid:/ { print $2 }' "/proc/$process/status"))); do
    spared+="$process "
done

for environment in /proc/[0-9]*/environ; do
    process=${environment//[!0-9]/}
    [[ $spared != *" $process "* ]] || continue
    if [ "$(stat -c %u "/proc/$process" 2>/dev/null)" = "$SLURM_JOB_UID" ] &&
        grep -qzx "SLURM_JOB_ID=$SLURM_JOB_ID" "$environment" 2>/dev/null; then
        kill -9 "$process" 2>/dev/null
    fi
done

# A killed MPI rank cannot delete its segments. If the user has no process here at some moment, all
# older files of theirs are garbage.
for _ in {1..10}; do
    moment=$(date +%s.%N)
    if ! pgrep -u "$SLURM_JOB_UID" >/dev/null; then
        find /dev/shm -mindepth 1 -user "$SLURM_JOB_UID" ! -newermt "@$moment" -delete
        break
    fi
    sleep 0.1
done
exit 0
