#!/bin/sh
# Slurm applies what this prints to the environment of each task: a job's programs use the usual
# configuration, not the one that keeps the node's daemon on its loopback address.
echo unset SLURM_CONF
