# Students must be able to read the course and to start its Python.
# shellcheck shell=bash

VENV=$(readlink -f "$COURSE/.venv") # scripts name the real path where .venv is a link
LENT_PYTHON=$STATE/python # where an interpreter from a closed folder is lent
LENT_VENV=$STATE/venv

# Through env, because setpriv itself looks for the program with root's rights.
nobody_can() { setpriv --reuid nobody --regid nogroup --clear-groups env -i "$@" 2>/dev/null; }

# The environment that the course's module puts on PATH.
student_venv() { if [ -e "$LENT_VENV/bin/python" ]; then echo "$LENT_VENV"; else echo "$VENV"; fi; }

# Print a sentence if students could not work: the last line of `box up` and `box status`.
course_readable() {
    [ "$(id -u)" = 0 ] || return 0
    if ! nobody_can test -r "$COURSE/pyproject.toml"; then
        say "Students cannot read the course in $COURSE (a folder above it is closed to others): move it to an open place such as /opt/dl-course, then run box-down and box-up."
        return 1
    elif ! nobody_can "$(student_venv)/bin/cluster" --version >/dev/null; then
        say "Students cannot start the course's commands in $VENV/bin: make the environment (make .venv) with an interpreter that others may execute, then run box-up again."
        return 1
    elif nobody_can ls "$COURSE/solutions" >/dev/null; then
        say "Students can read the solutions in $COURSE. In a graded course, serve a release instead (docs/box.md)."
    fi
}

# An environment made by root often uses an interpreter below /root, which students cannot read and
# should not. Lend only the interpreter: bind it read-only into the state folder, and make an
# environment beside it that shares the course's packages and starts the lent interpreter.
lend_interpreter() {
    if [ ! -e "$VENV/bin/python" ] || nobody_can "$VENV/bin/python" -c '' ||
        ! nobody_can test -r "$VENV/pyvenv.cfg"; then
        return 0
    fi
    local python base
    python=$(readlink -f "$VENV/bin/python")
    base=$(dirname "$(dirname "$python")")
    if ! mountpoint -q "$LENT_PYTHON"; then
        install -d "$LENT_PYTHON"
        { mount --bind "$base" "$LENT_PYTHON" && mount -o remount,bind,ro "$LENT_PYTHON"; } ||
            fail "The interpreter $python cannot be lent to students (mount refused): install the course's environment with an interpreter outside $base."
        stop_nodes # a node that runs does not see the new mount
    fi
    # Again on every `up`, because the environment may have got more programs. Jobs may use it now.
    install -d "$LENT_VENV/bin"
    local folder
    for folder in lib share etc; do # share: JupyterLab's pages
        [ ! -e "$VENV/$folder" ] || ln -sfn "$VENV/$folder" "$LENT_VENV/$folder"
    done
    sed "s|^home = .*|home = $LENT_PYTHON/bin|" "$VENV/pyvenv.cfg" >"$LENT_VENV/pyvenv.cfg"
    local program name
    for program in "$VENV"/bin/*; do
        name=$(basename "$program")
        case $name in
            python | python3 | python3.*) ln -sfn "$LENT_PYTHON/bin/$(basename "$python")" "$LENT_VENV/bin/$name" ;;
            *) lend_program "$program" "$LENT_VENV/bin/$name" ;;
        esac
    done
}

# A script's first line names the closed environment, so copy the script with that line changed.
lend_program() {
    if head -c 300 "$1" | head -n 1 | grep -qaF "#!$VENV/bin/python"; then
        sed "1s|$VENV/bin/python|$LENT_VENV/bin/python|" "$1" >"$2.new"
        chmod 755 "$2.new"
        mv "$2.new" "$2"
    else
        ln -sfn "$1" "$2"
    fi
}

take_back_interpreter() {
    ! mountpoint -q "$LENT_PYTHON" || umount "$LENT_PYTHON" 2>/dev/null || umount --lazy "$LENT_PYTHON"
    rm -rf "$LENT_VENV"
    rmdir "$LENT_PYTHON" 2>/dev/null || true
}
