# Students: a Unix account and a Slurm association each.
# shellcheck shell=bash

students() { sacctmgr -nP list assoc cluster="$CLUSTER" format=user 2>/dev/null | grep -vx -e '' -e root | sort -u || true; }

add_missing_students() {
    local name known
    known=$(students)
    for name in "${FIRST_STUDENTS[@]}"; do
        if ! grep -qx "$name" <<<"$known" || ! id "$name" >/dev/null 2>&1; then
            add_student "$name" "$ACCOUNT"
        fi
    done
}

add_student() {
    local name=$1 account=$2
    [[ $name =~ ^[a-z][a-z0-9_-]{0,30}$ ]] ||
        fail "'$name' is no name for an account: use small letters, digits, - and _, beginning with a letter."
    [[ $account =~ ^[a-z][a-z0-9_-]{0,30}$ ]] ||
        fail "'$account' is no name for a Slurm account: use small letters, digits, - and _, beginning with a letter."
    if ! id "$name" >/dev/null 2>&1; then
        useradd --create-home --shell /bin/bash "$name" ||
            fail "The account $name could not be made; useradd says why above."
        chmod 700 "$(home_of "$name")"
        echo "$name" >>"$STATE/accounts-made" # only these are deleted by `box wipe`
    fi
    sacctmgr -i -Q add account "$account" cluster="$CLUSTER" >/dev/null || true
    sacctmgr -i -Q add user "$name" account="$account" cluster="$CLUSTER" >/dev/null || true
    [ -n "$(sacctmgr -nP list assoc cluster="$CLUSTER" user="$name" account="$account" format=user)" ] ||
        fail "Slurm's accounting did not take $name into account $account; see $LOG/slurmdbd.log"
    say "$name may submit jobs to account $account."
}

home_of() { getent passwd "$1" | cut -d: -f6; }

accounts_made() { cat "$STATE/accounts-made" 2>/dev/null || true; }

delete_students() {
    local name
    for name in $(accounts_made); do
        userdel --force --remove "$name" 2>/dev/null || true
    done
}
