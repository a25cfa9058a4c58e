"""Read and write the options of `sbatch` that the course uses. Others are passed on unread."""

from autograder.errors import SettingsError

# Long names, and `=` with the short letter if there is one. These need a value: `-N 2`, `--mem=4G`.
VALUES = """
account=A array=a begin=b chdir=D comment constraint=C cpu-bind cpus-per-gpu cpus-per-task=c
deadline dependency=d distribution=m error=e exclude=x export gpu-bind gpus=G gpus-per-node
gpus-per-task gres hint input=i job-name=J kill-on-invalid-dep mail-type mail-user mem mem-per-cpu
mem-per-gpu nodelist=w nodes=N ntasks=n ntasks-per-node open-mode output=o partition=p qos=q
reservation signal threads-per-core time=t time-min tmp wrap
"""
SWITCHES = """
exclusive hold=H no-requeue parsable quiet=Q requeue test-only verbose=v version=V wait=W
"""


def table(text: str) -> dict[str, str]:
    """Return long name -> short letter, "" if it has none."""
    return dict(entry.partition("=")[::2] for entry in text.split())


WITH_VALUE, FLAGS = table(VALUES), table(SWITCHES)
LONG_NAME = {letter: name for name, letter in (WITH_VALUE | FLAGS).items() if letter}


class OptionError(SettingsError):
    """An option that sbatch would refuse. The message is in sbatch's words."""


def unknown(options: dict[str, str]) -> list[str]:
    """Return the names of options that are not in the tables above."""
    return [name for name in options if name not in WITH_VALUE and name not in FLAGS]


def take_options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split `words` into the options at the beginning and everything after them.

    A later option replaces an earlier one. A flag has the value "". An option that is not in the
    tables has a value only if it is written with `=`.
    """
    options: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name in WITH_VALUE and not equals:
                if not rest:
                    raise OptionError(f"option '--{name}' requires an argument")
                value = rest.pop(0)
            options[name] = value
        else:
            options.update(_short_options(word[1:], rest))
    return options, rest


def _short_options(letters: str, rest: list[str]) -> dict[str, str]:
    """Parse `-N2`, `-N 2`, or several flags such as `-HQ`. A value may be the next of `rest`."""
    options: dict[str, str] = {}
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in LONG_NAME:
            raise OptionError(f"-{letter}: write this option with its long name, as in --nodes=2")
        name = LONG_NAME[letter]
        if name in FLAGS:
            options[name] = ""
            continue
        if not letters and not rest:
            raise OptionError(f"option requires an argument -- '{letter}'")
        options[name], letters = letters or rest.pop(0), ""
    return options


def as_words(options: dict[str, str]) -> list[str]:
    """Return the options as words of a command line; the reverse of `take_options`."""
    return [
        f"--{name}={value}" if value or name in WITH_VALUE else f"--{name}"
        for name, value in options.items()
    ]
