"""Tests of programs as texts: small diffs along the chain, and help on the command line."""

import re
import runpy
import shlex
import sys
from collections import Counter
from unittest import mock

import click
import pytest
from real_runs import ROOT, added
from typed_commands import commands, folder_of

from autograder.cli import main as autograder
from cluster.cli import main as cluster
from cluster.job_file.sbatch_options import take_options
from lessons.cli import main as lessons

# Loaded here, with all that they need: below, frameworks and MPI are stand-ins.
from lessons.toolkit import data, record  # noqa: F401
from lessons.toolkit.record.run import refuse_zeros

SOLUTIONS = ROOT / "solutions"

# A program, the one that it was made from, and how many lines it may add: that is the lesson.
CHAIN = [
    ("03_baseline/train.py", "02_serial/train.py", 36),
    ("04_feeding/train.py", "03_baseline/train.py", 38),
    ("05_mirrored/train.py", "03_baseline/train.py", 40),
    ("06_allreduce/network.py 06_allreduce/train.py", "01_learning/train.py", 90),
    ("07_horovod/train.py", "02_serial/train.py", 40),
    ("07_horovod/train_shares.py", "07_horovod/train.py", 13),
    ("07_horovod/train_torch.py", "02_serial/train_torch.py", 58),
    ("07_horovod/nodes.py", "03_baseline/train.py", 41),
    ("08_data/train.py", "07_horovod/train.py", 45),
    ("08_data/nodes.py", "07_horovod/nodes.py", 21),
    ("09_learning_rate/train.py", "06_allreduce/train.py", 81),
    ("09_learning_rate/train_horovod.py", "07_horovod/train.py", 40),
    ("09_learning_rate/nodes.py", "07_horovod/nodes.py", 22),
    ("10_native/train.py", "02_serial/train_torch.py", 55),
    ("10_native/train_lightning.py", "02_serial/train_torch.py", 81),
    ("16_tensorflow/train_multiworker.py", "02_serial/train.py", 50),
    ("16_tensorflow/train_ps.py", "02_serial/train.py", 138),
    ("11_pipeline/pipeline.py 11_pipeline/train.py", "02_serial/train_torch.py", 177),
    ("11_pipeline/train_library.py", "11_pipeline/train.py", 55),
    ("12_scaling/train.py", "10_native/train.py", 40),
    ("13_shard/train.py", "00_cluster/train_gpt.py", 40),
    ("14_profile/train.py", "00_cluster/train_gpt.py", 91),
    ("14_profile/break_it.py", "14_profile/train_ways.py", 61),
    ("15_survive/train.py 15_survive/step.py", "13_shard/train.py", 164),
]


@pytest.mark.parametrize(("program", "ancestor", "most"), CHAIN)
def test_the_lesson_is_a_small_diff(program, ancestor, most):
    files = [SOLUTIONS / name for name in program.split()]
    assert 10 < added([SOLUTIONS / ancestor], files) <= most


def test_a_program_of_several_lessons_has_one_source():
    sources = [file for file in SOLUTIONS.glob("*/*.py") if not file.is_symlink()]
    texts = Counter(file.read_bytes() for file in sources)
    assert set(texts.values()) == {1}


# What is started; this one takes no options.
WITHOUT = ("tf_cluster.py",)
PROGRAMS = [
    file
    for file in sorted(SOLUTIONS.glob("[0-9]*/*.py"))
    if '__name__ == "__main__"' in file.read_text(encoding="utf-8") and file.name not in WITHOUT
]
HEAVY = [
    *("tensorflow", "keras", "mpi4py", "h5py"),
    *("horovod", "horovod.torch", "horovod.tensorflow", "horovod.tensorflow.keras"),
    *("lightning", "lightning.pytorch", "lightning.pytorch.plugins.environments"),
    *("torch", "torch.distributed", "torch.distributed.distributed_c10d"),
    *("torch.distributed.checkpoint", "torch.distributed.checkpoint.state_dict"),
    *("torch.distributed.device_mesh", "torch.distributed.fsdp", "torch.distributed.tensor"),
    *("torch.distributed.pipelining", "torch.nn", "torch.nn.functional", "torch.nn.parallel"),
    *("torch.nn.attention", "torch.nn.utils", "torch.overrides", "torch.profiler", "torch.utils"),
    *("torch.utils._python_dispatch", "torch.utils._pytree", "torch.utils.flop_counter"),
    *("torch.utils.checkpoint", "torch.utils.data"),
]


def name_of(file):
    return str(file.relative_to(SOLUTIONS))


def command_line(program):
    """Return the program's parser, without loading frameworks."""
    with (
        mock.patch.dict(sys.modules, {name: mock.MagicMock() for name in HEAVY}),
        mock.patch.object(sys, "path", [str(program.parent), *sys.path]),
    ):
        names = runpy.run_path(str(program), run_name="program")
        # Most probes take the arguments of the program that they test.
        return (names.get("command_line") or names["train"].command_line)()


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_no_optimizer_of_keras_takes_another_path_on_gpus(program):
    """Keras 2 compiles its optimizers with XLA where it sees a GPU, so no CPU would test that."""
    text = program.read_text(encoding="utf-8")
    if re.search(r"model\.compile\(|= keras\.optimizers\.", text):
        assert re.search("jit_compile ?= ?False|import train_horovod as train", text)


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_help_explains_every_option_and_shows_its_default(program, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "500")
    parser = command_line(program)
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert " ".join(parser.description.split()) in " ".join(shown.split())
    for action in parser._actions[1:]:  # the first is --help itself
        described = action.help.removesuffix(" (default: %(default)s)")
        assert re.search(r"\w{3}", described), action.dest
        default = f" (default: {action.default})" if action.option_strings else ""
        assert described + default in shown


# Lesson 00's clock starts a shell, not a program of the lesson's.
JOBS = sorted(set(SOLUTIONS.glob("[0-9]*/*.sbatch")) - {SOLUTIONS / "00_cluster" / "clock.sbatch"})


@pytest.mark.parametrize("job", JOBS, ids=name_of)
def test_a_job_types_flags_that_its_program_has(job):
    lines = re.findall("(?m)^launch .*", job.read_text(encoding="utf-8"))
    words = shlex.split(lines[0]) if lines else []
    typed = {word for word in words if word.startswith("--")}
    programs = [job.parent / word for word in words if word.endswith(".py")]
    assert len(programs) == 1 or (not programs and not typed)  # one of 00 starts no program
    actions = [one for file in programs if file in PROGRAMS for one in command_line(file)._actions]
    assert typed <= {action.option_strings[0] for action in actions if action.option_strings}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_program_refuses_its_own_defaults(path):
    defaults = {action.dest: action.default for action in command_line(path)._actions}
    refuse_zeros(defaults, rank=0)


OURS = {"autograder": autograder, "cluster": cluster, "lessons": lessons}
LESSONS = sorted(folder.name[:2] for folder in SOLUTIONS.glob("[0-9]*_*"))


def typed_words(lesson):
    """Return the words of each command on the page, as the shell passes them on."""
    variables, found = {}, []
    for line in (command.line for command in commands(lesson)):
        line = re.sub(r"^\w+=\$\((.*)\)$", r"\1", line).partition(" | ")[0]
        for name, value in variables.items():
            line = line.replace(f"${name}", value)
        words = shlex.split(line)
        if words[0] == "export":
            variables.update(word.split("=", 1) for word in words[1:])
        while "=" in words[0] and words[1:]:
            del words[0]
        found.append(words)
    return found


def parse(words, folder):
    """Fail unless the command, its job file's program and its arguments can be typed like this."""
    if words[0] in OURS:
        group = click.Context(OURS[words[0]])
        name, command, others = group.command.resolve_command(group, words[1:])
        context = command.make_context(name, others, parent=group)
        if "words" in context.params:  # a job file and its arguments
            _, (job, *arguments) = take_options(list(context.params["words"]))
            parse_job(folder / job, arguments)
    elif words[0] == "sbatch":
        _, (job, *arguments) = take_options(words[1:])
        parse_job(folder / job, arguments)
    elif words[0] in ("launch", "python"):
        program, *arguments = words[next(i for i, w in enumerate(words) if w.endswith(".py")) :]
        assert folder / program in PROGRAMS or not arguments, program
        if folder / program in PROGRAMS and arguments != ["--help"]:
            command_line(folder / program).parse_args(arguments)


def parse_job(job, arguments):
    [*_, line] = re.findall("(?m)^launch .*", job.read_text(encoding="utf-8")) or ["launch"]
    words = shlex.split(line.replace('"$@"', shlex.join(arguments)).partition(" ||")[0])
    if words[1:2] == ["python"]:
        parse(words, job.parent)
    else:
        assert not arguments, job


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_command_of_a_page_can_be_parsed(lesson, tmp_path, monkeypatch):
    """Those that nothing else runs are also typed: test_typed_commands.py."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").touch()  # page 12 says to write it
    for words in typed_words(lesson):
        parse(words, folder_of(lesson))
