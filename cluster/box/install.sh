# Install the packages, but start no services, now or at boot: the box starts its own daemons.
# shellcheck shell=bash

# MariaDB's -core packages contain the programs without the service. libpmix-dev is needed in addition
# to libpmix2, because Slurm's plug-in loads the library by its name without a version.
PACKAGES=(slurmctld slurmd slurm-client slurmdbd munge
    mariadb-server-core mariadb-client-core libeatmydata1 libpmix-dev lmod bubblewrap procps)
SLURM_SERVICES=(slurmctld slurmd slurmdbd)

installed() {
    command -v slurmctld slurmd slurmdbd sbatch munged mungekey mariadbd mariadb-install-db bwrap pgrep >/dev/null &&
        [ -e /usr/share/lmod/lmod/init/bash ] && [ -n "$(compgen -G '/usr/lib/*/libpmix.so')" ] &&
        [ -n "$(compgen -G '/usr/lib/*/libeatmydata.so')" ]
}

install_packages() {
    command -v apt-get >/dev/null ||
        fail "The box installs Debian's packages and there is no apt-get here: use Debian 12, or do without the box: 'cluster use laptop'."
    say "Installing Slurm, munge, MariaDB and Lmod (once, about a minute) …"
    local log=/var/log/dl-course-box-install.log
    {
        apt_get update
        services_stay_off apt_get install --no-install-recommends "${PACKAGES[@]}"
    } >"$log" 2>&1 || fail "The packages could not be installed; see the end of $log"
    rm -f "$log"
    installed || fail "The packages are there but some programs are not: this release's packages differ from Debian 12's."
}

apt_get() {
    DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq -y -o Dpkg::Use-Pty=0 \
        -o DPkg::Lock::Timeout=120 "$@"
}

# Debian asks policy-rc.d before it starts a newly installed service; 101 means no.
services_stay_off() {
    local policy=/usr/sbin/policy-rc.d fresh=() service status=0
    for service in "${SLURM_SERVICES[@]}" munge; do
        dpkg -s "$service" >/dev/null 2>&1 || fresh+=("$service")
    done
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT # when box ends, even by Ctrl-C
    fi
    "$@" || status=$?
    stay_off_at_boot "${fresh[@]}"
    return $status
}

# Debian would still start these services at the next boot, with or without systemd, and Slurm's would
# read the box's configuration.
stay_off_at_boot() {
    local service
    for service in "$@"; do
        if [ -e "/etc/systemd/system/multi-user.target.wants/$service.service" ] ||
            compgen -G "/etc/rc[2-5].d/S[0-9][0-9]$service" >/dev/null; then
            update-rc.d "$service" disable >/dev/null
        fi
    done
}
