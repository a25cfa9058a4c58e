"""The app's templates rendered by Ruby for a centre's settings and a student's answers."""

import html.parser
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from portal import install_app, ruby, sbatch_words

pytestmark = pytest.mark.ruby

PBS = {"scheduler": "pbs", "native": ["-l", "filesystems=home:eagle"]}


def shown(form: dict) -> list[str]:
    """Return the fields that a student sees, in order."""
    return [name for name in form["form"] if isinstance(form["attributes"].get(name, {}), dict)]


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({}, ["bc_account", "cores", "bc_num_hours"]),
        (
            {"queues": ["gpu"], "max_gpus": 4},
            ["bc_account", "bc_queue", "gpus", "cores", "bc_num_hours"],
        ),
    ],
)
def test_the_form_asks_for_what_the_centre_needs(session, settings, fields):
    form = session(**settings).yaml("form.yml")
    assert shown(form) == fields
    assert form["cluster"] == "hpc"
    assert set(form["form"]) <= set(form["attributes"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"portal": "", "site": ""}, "fill in portal, site"),
        ({"queues": "cpu"}, "queues: write a list"),
    ],
)
def test_settings_that_are_wrong_are_a_sentence(tmp_path, settings, words):
    app = install_app(tmp_path, **settings)
    done = ruby(app, tmp_path / "session")
    assert done.returncode
    assert f"settings.yml: {words}" in done.stderr


@pytest.mark.parametrize(
    ("typed", "settings", "words"),
    [
        ({}, {}, "-t 02:00:00 --nodes=1 --ntasks=1 --cpus-per-task=2"),
        (
            {"bc_queue": "debug", "gpus": "2", "cores": "8", "bc_num_hours": "3"},
            {"queues": ["gpu", "debug"], "max_gpus": 4, "native": ["--constraint=gpu"]},
            "-p debug -t 03:00:00 --nodes=1 --ntasks=1 --cpus-per-task=8"
            " --gpus-per-node=2 --constraint=gpu",
        ),
    ],
)
def test_the_sbatch_call(session, typed, settings, words):
    made = session(typed, **settings)
    where = f"sbatch -D {made.folder} -o {made.folder}/output.log "
    assert " ".join(sbatch_words(made.options)) == where + words


@pytest.mark.parametrize(
    ("typed", "settings", "native"),
    [
        ({}, {"scheduler": "pbs"}, ["-l", "select=1:ncpus=2"]),
        (
            {"gpus": "0", "cores": "4"},
            PBS | {"max_gpus": 4, "pbs_select": "system=polaris"},
            ["-l", "select=1:ncpus=4:system=polaris", *PBS["native"]],
        ),
    ],
)
def test_the_qsub_words(session, typed, settings, native):
    assert session(typed | {"bc_account": "proj"}, **settings).options["native"] == native


def test_options_that_a_student_types_cannot_add_words(session):
    made = session({"cores": '2", "--uid=root', "gpus": "1; reboot"}, max_gpus=4)
    assert made.options["native"][-2:] == ["--cpus-per-task=2", "--gpus-per-node=1"]


@pytest.mark.parametrize("account", ["proj", "$(touch oops)", "a'b", "two words", "x\ny"])
def test_the_scripts_are_valid_shell_whatever_is_typed(session, account):
    made = session({"bc_account": account})
    for name in ("before.sh", "script.sh", "after.sh", "job.sh"):
        done = subprocess.run(["bash", "-n", made.folder / name], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    export = re.search(r"export SBATCH_ACCOUNT=.*?(?=\n    #)", made.text("before.sh"), re.DOTALL)
    words = ["bash", "-c", f'{export[0]}; printf %s "$SBATCH_ACCOUNT"']
    told = subprocess.run(words, capture_output=True, text=True, cwd=made.folder)
    assert told.stdout == account
    assert not (made.folder / "oops").exists()


@pytest.mark.parametrize(
    ("course", "unpacked", "opens"),
    [
        ("dl-course", True, "lab/tree/dl-course/lessons/START.md"),
        ("dl-course", False, "lab"),
        ("", True, "lab"),
    ],
)
def test_a_session_opens_on_the_start_page_of_the_unpacked_course(
    session, tmp_path, course, unpacked, opens
):
    text = session(course=course).text("before.sh")
    start = text.index("jupyter_api=lab")
    block = text[start : text.index("# The password itself")]
    lessons = tmp_path / "home" / course / "lessons"
    settings = lessons / "student/jupyter_config/labconfig"
    if unpacked:
        settings.mkdir(parents=True)
        (settings / "default_setting_overrides.json").write_text("{}")
    (tmp_path / "home").mkdir(exist_ok=True)
    # A stand-in for the site's environment, with only what this part of the script calls.
    called = 'in_environment() { echo "$@ in $PWD" > "$HOME/called"; }'
    script = f'set -u\n{called}\n{block}\necho "$jupyter_api ${{JUPYTER_CONFIG_PATH:-}}"'
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True,
        env={"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    api, _, configuration = done.stdout.splitlines()[-1].partition(" ")
    assert api == opens
    if opens == "lab":
        assert not configuration
        return
    assert (tmp_path / "home/called").read_text() == f"lessons start in {lessons}\n"
    assert (Path(configuration) / "labconfig/default_setting_overrides.json").is_file()


def test_a_session_adds_what_a_new_release_has_and_changes_no_file(session, tmp_path):
    text = session(course="dl-course", release=str(tmp_path / "week 2")).text("before.sh")
    block = text[text.index('course="$HOME/') : text.index('if [ -d "$course/lessons" ]')]
    for folder, content in (("home/dl-course", "mine"), ("week 2", "empty")):
        (tmp_path / folder / "lessons").mkdir(parents=True)
        (tmp_path / folder / "lessons/train.py").write_text(content)
    (tmp_path / "week 2/lessons/new.py").write_text("new")
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-euc", block], env=env, check=True)
    lessons = tmp_path / "home/dl-course/lessons"
    assert [(lessons / name).read_text() for name in ("train.py", "new.py")] == ["mine", "new"]


@pytest.mark.parametrize(
    ("settings", "named"), [({"course": "my course"}, "course"), ({"release": "/week2"}, "release")]
)
def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path, settings, named):
    done = ruby(install_app(tmp_path, **settings), tmp_path / "session")
    assert done.returncode
    assert f"settings.yml: {named}" in done.stderr


def test_the_view_posts_the_password(session, tmp_path):
    made = session()
    connection = {"host": "n1.example", "port": 4711, "password": "secret", "jupyter_api": "lab"}
    (made.folder / "connection.yml").write_text(yaml.safe_dump(connection))
    assert ruby(tmp_path / "app", made.folder).returncode == 0
    found = {}

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            values = dict(attributes)
            found[values.get("name") or tag] = values

    Reader().feed(made.text("view.html"))
    base = "/node/n1.example/4711"
    assert found["form"]["action"] == f"{base}/login?next={base}/lab"
    assert found["form"]["method"] == "post"
    assert found["password"]["value"] == "secret"
