#!/bin/bash
# into_image.sh COMMAND…: start a rank in an image, with the parts of Slurm's PMIx that the image's MPI
# needs: its folder, and settings that are in one of Slurm's files outside the image.
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
