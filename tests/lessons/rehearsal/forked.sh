# A laptop on which loading PyTorch, most of the time of a small program, is done once: forked_ranks.py.
source "$(dirname "${BASH_SOURCE[0]}")/../../../cluster/sites/${REHEARSAL_ON:-laptop}.sh"
forked_ranks=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/forked_ranks.py
eval "whole_$(declare -f launch_ranks)"
launch_ranks() {
    local words=("${@:2}") before=()
    [ "${words[0]}" != timeout ] || { before=("${words[@]:0:3}") && words=("${words[@]:3}"); }
    # Lesson 12's study uses MPI itself.
    if [[ -n ${RANK_SERVER:-} && ${words[*]:0:3} == "python -u "*.py && $* != *study.py* ]]; then
        "${before[@]}" python -u "$forked_ranks" "$1" "${words[@]:2}"
    else
        whole_launch_ranks "$@"
    fi
}
