# A site whose programs are small, so that two cores can rehearse `full`. Every job file sources its
# site, whoever submits it, and starts its programs with `launch` (lesson 15: `in_container`).
rehearsal=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$rehearsal/../../../cluster/sites/${REHEARSAL_ON:-laptop}.sh"
export COURSE_DEVICE=cpu

eval "whole_$(declare -f launch)" # the site's own, under other names
eval "whole_$(declare -f in_container)"
launch() {
    [[ $PWD/$* != */08_data/*nodes.py* ]] || fewer_photographs
    # Two programs keep Gloo on GPUs: lesson 11's, and lesson 13's two nodes.
    [[ $* == *tensor_parallel.py* || $* == *"--nodes 2"* ]] || local -x PYTHONPATH=$rehearsal/nccl${PYTHONPATH:+:$PYTHONPATH}
    smaller whole_launch "$@"
}
in_container() { smaller whole_in_container "$@"; }

# In these lessons, loading PyTorch takes most of the time of a small program, so its ranks share that.
# Lesson 15's have to be killed one by one.
eval "whole_$(declare -f launch_ranks)"
launch_ranks() {
    local words=("${@:2}") before=()
    [ "${words[0]}" != timeout ] || { before=("${words[@]:0:3}") && words=("${words[@]:3}"); }
    if [[ ${REHEARSAL_ON:-laptop} == laptop && $PWD == */1[13]_* && ${words[*]:0:3} == "python -u "*.py ]]; then
        "${before[@]}" python -u "$rehearsal/forked_ranks.py" "$1" "${words[@]:2}"
    else
        whole_launch_ranks "$@"
    fi
}

smaller() {
    local words
    mapfile -td '' words < <(python "$rehearsal/smaller.py" "$@" || printf 'false\0')
    "${words[@]}"
}

# Lesson 08's nodes.py reads the 50,000 images that its page has written.
fewer_photographs() {
    flock data python -c '
import make_parts
from pathlib import Path
from lessons.toolkit import data
if not Path("data/few").exists():
    few = data.load("cifar10", 640)
    make_parts.write_parts(few.x_train, few.y_train, "data/photographs", 64)
    Path("data/few").touch()'
}
