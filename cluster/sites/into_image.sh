#!/bin/bash
# into_image.sh COMMAND…: start a rank in an image, with what the MPI library there needs of Slurm's
# PMIx: its folder, and the settings that outside are in a file of Slurm's.
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
