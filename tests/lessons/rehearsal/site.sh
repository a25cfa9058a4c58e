# A site whose programs are small, so that two cores can rehearse `full`. Every job file sources its
# site, whoever submits it, and starts its programs with `launch` (lesson 15: `in_container`).
rehearsal=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$rehearsal/forked.sh"
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
