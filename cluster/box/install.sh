# The packages. Nothing is started by them, now or at the next boot: the box starts its own daemons.
# shellcheck shell=bash

# The -core packages of MariaDB bring the programs without the service; libpmix-dev is needed
# beside libpmix2, because Slurm's plug-in looks for the unversioned library.
PACKAGES=(slurmctld slurmd slurm-client slurmdbd munge
    mariadb-server-core mariadb-client-core libeatmydata1 libpmix-dev lmod)
SERVICES=(slurmctld slurmd slurmdbd munge)

installed() {
    command -v slurmctld slurmd slurmdbd sbatch munged mungekey mariadbd mariadb-install-db >/dev/null &&
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

# Debian asks policy-rc.d before it starts a fresh service; 101 means no.
services_stay_off() {
    local policy=/usr/sbin/policy-rc.d fresh=() service status=0
    for service in "${SERVICES[@]}"; do
        dpkg -s "$service" >/dev/null 2>&1 || fresh+=("$service")
    done
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT # when box ends, even by Ctrl-C
    fi
    "$@" || status=$?
    if [ -d /run/systemd/system ] && ((${#fresh[@]})); then
        systemctl disable "${fresh[@]}" || true
    fi
    return $status
}
