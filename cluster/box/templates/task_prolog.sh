#!/bin/sh
# Slurm applies what this prints to the environment of each task. The node's own daemon reads a
# configuration that keeps it on its loopback address; programs of a job take the usual one.
echo unset SLURM_CONF
