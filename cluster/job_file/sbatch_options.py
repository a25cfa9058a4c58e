"""List the options of `sbatch` as data, with a parser that behaves like sbatch's own."""

# Long name, short letter or "-", and whether a value follows: yes, no, or maybe (`--nice[=5]`).
TABLE = """
account A yes
acctg-freq - yes
array a yes
batch - yes
bb - yes
bbf - yes
begin b yes
chdir D yes
cluster-constraint - yes
clusters M yes
comment - yes
constraint C yes
container - yes
contiguous - no
core-spec S yes
cores-per-socket - yes
cpu-freq - yes
cpus-per-gpu - yes
cpus-per-task c yes
deadline - yes
delay-boot - yes
dependency d yes
distribution m yes
error e yes
exclude x yes
exclusive - maybe
export - yes
export-file - yes
extra-node-info B yes
get-user-env - maybe
gid - yes
gpu-bind - yes
gpu-freq - yes
gpus G yes
gpus-per-node - yes
gpus-per-socket - yes
gpus-per-task - yes
gres - yes
gres-flags - yes
help h no
hint - yes
hold H no
ignore-pbs - no
input i yes
job-name J yes
kill-on-invalid-dep - yes
licenses L yes
mail-type - yes
mail-user - yes
mcs-label - yes
mem - yes
mem-bind - yes
mem-per-cpu - yes
mem-per-gpu - yes
mincpus - yes
network - yes
nice - maybe
no-kill k maybe
no-requeue - no
nodefile F yes
nodelist w yes
nodes N yes
ntasks n yes
ntasks-per-core - yes
ntasks-per-gpu - yes
ntasks-per-node - yes
ntasks-per-socket - yes
open-mode - yes
output o yes
overcommit O no
oversubscribe s no
parsable - no
partition p yes
power - yes
prefer - yes
priority - yes
profile - yes
propagate - maybe
qos q yes
quiet Q no
reboot - no
requeue - no
reservation - yes
signal - yes
sockets-per-node - yes
spread-job - no
switches - yes
test-only - no
thread-spec - yes
threads-per-core - yes
time t yes
time-min - yes
tmp - yes
tres-bind - yes
tres-per-task - yes
uid - yes
usage - no
use-min-nodes - no
verbose v no
version V no
wait W no
wait-all-nodes - yes
wckey - yes
wrap - yes
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]
TAKES_VALUE = {name: kind for name, _, kind in ROWS}
LONG_NAME = {letter: name for name, letter, _ in ROWS if letter != "-"}


class OptionError(ValueError):
    """An option that sbatch would refuse. The message is in sbatch's words."""


def full_name(name: str) -> str:
    """Return the option for a name or an unambiguous prefix, as getopt_long does."""
    if name in TAKES_VALUE:
        return name
    meant = [known for known in TAKES_VALUE if name and known.startswith(name)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        possible = " ".join(f"'--{known}'" for known in meant)
        raise OptionError(f"option '--{name}' is ambiguous; possibilities: {possible}")
    raise OptionError(f"unrecognized option '--{name}'")


def take_options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split `words` into the options at the beginning and everything after them.

    A later option replaces an earlier one. A flag has the value "".
    """
    options: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = full_name(name)
            if equals and TAKES_VALUE[name] == "no":
                raise OptionError(f"option '--{name}' doesn't allow an argument")
            if not equals and TAKES_VALUE[name] == "yes":
                if not rest:
                    raise OptionError(f"option '--{name}' requires an argument")
                value = rest.pop(0)
            options[name] = value
        else:
            options.update(_short_options(word[1:], rest))
    return options, rest


def _short_options(letters: str, rest: list[str]) -> dict[str, str]:
    """Parse `-N2`, `-N 2`, or several flags such as `-HQ`.

    If an option needs a value and none is attached, take it from `rest`.
    """
    options: dict[str, str] = {}
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in LONG_NAME:
            raise OptionError(f"invalid option -- '{letter}'")
        name = LONG_NAME[letter]
        if TAKES_VALUE[name] == "no":
            options[name] = ""
            continue
        if TAKES_VALUE[name] == "yes" and not letters:
            if not rest:
                raise OptionError(f"option requires an argument -- '{letter}'")
            letters = rest.pop(0)
        options[name], letters = letters, ""
    return options


def as_words(options: dict[str, str]) -> list[str]:
    """Return the options as words of a command line; the reverse of `take_options`."""
    words = []
    for name, value in options.items():
        flag = TAKES_VALUE[name] == "no" or (TAKES_VALUE[name] == "maybe" and not value)
        words.append(f"--{name}" if flag else f"--{name}={value}")
    return words
