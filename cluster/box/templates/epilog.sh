#!/bin/bash
# After a job, on each of its nodes: end what it left behind. Slurm's own search follows parents
# and misses processes that detached themselves.
for environment in /proc/[0-9]*/environ; do
    pid=${environment//[!0-9]/}
    if grep -qzx "SLURM_JOB_ID=$SLURM_JOB_ID" "$environment" 2>/dev/null && [ "$(id -u "$SLURM_JOB_USER")" = "$(stat -c %u "/proc/$pid")" ]; then
        kill -9 "$pid" 2>/dev/null
    fi
done
exit 0
