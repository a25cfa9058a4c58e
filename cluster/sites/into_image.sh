#!/bin/bash
# into_image.sh WORDS…: starts a rank's words, which lead into an image, with what a library in there
# needs of Slurm's PMIx: the settings that outside stand in a file of Slurm's, and its folder.
settings=(PMIX_SECURITY_MODE=PMIX_MCA_psec PMIX_GDS_MODULE=PMIX_MCA_gds PMIX_PTL_MODULE=PMIX_MCA_ptl)
for pair in "${settings[@]}"; do
    from=${pair%=*} to=${pair#*=}
    if [ -n "${!from:-}" ] && [ -z "${!to:-}" ]; then export "$to=${!from}"; fi
done
if [ -d "${PMIX_SERVER_TMPDIR:-}" ]; then
    export APPTAINER_BIND=${APPTAINER_BIND:+$APPTAINER_BIND,}$PMIX_SERVER_TMPDIR
    export SINGULARITY_BIND=${SINGULARITY_BIND:+$SINGULARITY_BIND,}$PMIX_SERVER_TMPDIR
fi
exec "$@"
