#!/bin/bash
# node.sh NAME FOLDER…: the first process of a virtual node, inside its own namespaces (see
# start_nodes in daemons.sh). It keeps running, because the first process has to reap orphans. A
# FOLDER below the machine's /tmp also appears in the node's own /tmp.
set -euo pipefail
name=$1
shift

hostname "$name"
mount -t tmpfs -o mode=1777 "$name-shm" /dev/shm
mount -t tmpfs -o mode=1777 "$name-tmp" /mnt
for folder in "$@"; do
    case $folder in
        /tmp/?*)
            mkdir -p "/mnt/${folder#/tmp/}"
            mount --bind "$folder" "/mnt/${folder#/tmp/}"
            ;;
    esac
done
mount --move /mnt /tmp

# A configuration of its own, which keeps it on its loopback address (see write_configuration).
SLURM_CONF=$(dirname "$SLURM_CONF")/node/slurm.conf slurmd -D -N "$name" &
wait $!
