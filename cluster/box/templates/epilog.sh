#!/bin/bash
# After a job, on each of its nodes: end what it left running, and clear what it left in shared
# memory. Slurm's own search follows parents and misses processes that detached themselves.
for environment in /proc/[0-9]*/environ; do
    process=${environment%/environ}
    if [ "$(stat -c %u "$process" 2>/dev/null)" = "$SLURM_JOB_UID" ] &&
        grep -qzx "SLURM_JOB_ID=$SLURM_JOB_ID" "$environment" 2>/dev/null; then
        kill -9 "${process#/proc/}" 2>/dev/null
    fi
done

# A killed MPI rank cannot remove its segments. If the user has no process here at one moment, all
# that is older is garbage.
for _ in {1..10}; do
    moment=$(date +%s.%N)
    if ! pgrep -u "$SLURM_JOB_UID" >/dev/null; then
        find /dev/shm -mindepth 1 -user "$SLURM_JOB_UID" ! -newermt "@$moment" -delete
        break
    fi
    sleep 0.1
done
exit 0
