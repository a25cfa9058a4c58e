# Students: a Unix account and a Slurm association each.
# shellcheck shell=bash

students() { sacctmgr -nP list assoc cluster="$CLUSTER" format=user 2>/dev/null | grep -vx -e '' -e root | sort -u || true; }

add_missing_students() {
    local known name missing=()
    known=$(students)
    for name in "${FIRST_STUDENTS[@]}"; do
        if ! grep -qx "$name" <<<"$known" || ! id "$name" >/dev/null 2>&1; then missing+=("$name"); fi
    done
    ((${#missing[@]} == 0)) || add_students "$ACCOUNT" "${missing[@]}"
}

# add_students ACCOUNT NAME…
add_students() {
    local account=$1 name names
    shift
    must_be_a_name "$account" "a Slurm account"
    for name in "$@"; do must_be_a_name "$name" "a login"; done
    for name in "$@"; do make_login "$name"; done
    names=$(paste -sd, < <(printf '%s\n' "$@"))
    sacctmgr -i -Q add account "$account" cluster="$CLUSTER" >/dev/null || true # it may be there
    sacctmgr -i -Q add user "$names" account="$account" cluster="$CLUSTER" >/dev/null || true
    # The controller keeps the number of a login that was deleted and made again.
    for name in "$@"; do
        controller_knows "$name" "$account" || { scontrol reconfigure && break; }
    done
    for name in "$@"; do
        wait_for slurmctld 10 "The controller does not learn that $name may use account $account" \
            controller_knows "$name" "$account"
    done
    say "$(paste -sd' ' < <(printf '%s\n' "$@")) may submit jobs to account $account."
}

must_be_a_name() {
    [[ $1 =~ ^[a-z][a-z0-9_-]{0,30}$ ]] ||
        fail "'$1' is no name for $2: use small letters, digits, - and _, beginning with a letter."
}

make_login() {
    ! id "$1" >/dev/null 2>&1 || return 0
    useradd --create-home --shell /bin/bash "$1" || fail "The login $1 could not be made; useradd says why above."
    chmod 700 "$(getent passwd "$1" | cut -d: -f6)"
    echo "$1" >>"$STATE/accounts-made" # only these are deleted by `box wipe`
}

controller_knows() {
    scontrol show assoc_mgr flags=assoc users="$1" accounts="$2" | grep -qF "Account=$2 UserName=$1($(id -u "$1"))"
}

accounts_made() { cat "$STATE/accounts-made" 2>/dev/null || true; }

delete_students() {
    local name
    for name in $(accounts_made); do
        userdel --force --remove "$name" 2>/dev/null || true
    done
}
