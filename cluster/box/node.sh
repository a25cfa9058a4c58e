#!/bin/bash
# The first process of a virtual node, inside its own namespaces (see start_nodes in daemons.sh).
# It stays, because the first process has to take leave of those whose parents have gone.
set -euo pipefail
hostname "$1"
mount -t tmpfs -o mode=1777 "$1-tmp" /tmp
mount -t tmpfs -o mode=1777 "$1-shm" /dev/shm
SLURM_CONF=/var/lib/dl-course-box/etc/node/slurm.conf slurmd -D -N "$1" &
wait $!
