# What a terminal of `make lab` reads first: your own settings, then the course's environment, so that
# `lessons`, `cluster` and `autograder` are found whatever came before.
[ ! -r ~/.bashrc ] || . ~/.bashrc
. "$(dirname "${BASH_SOURCE[0]}")/../../.venv/bin/activate"
