"""The app as a centre installs it, rendered with real Ruby."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

COURSE = Path(__file__).parents[4]
APP = COURSE / "cluster" / "jupyter" / "ondemand"
STAND_IN = Path(__file__).with_name("stand_in.rb")
FILLED_IN = {
    "portal": "https://ondemand.example.edu",
    "cluster": "hpc",
    "environment": "/apps/dl-course/.venv",
    "site": "/apps/dl-course/cluster/sites/box.sh",
}


@dataclass(frozen=True)
class Session:
    """The files that OnDemand makes from the app and a student's input."""

    folder: Path

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    def yaml(self, name: str) -> dict:
        return yaml.safe_load(self.text(name))

    @property
    def options(self) -> dict:
        return json.loads(self.text("options.json"))


def sbatch_words(options: dict) -> list[str]:
    """Return the call that OnDemand's Slurm adapter makes; the script is passed on stdin."""
    seconds = options["wall_time"]
    letters = {"workdir": "-D", "output_path": "-o", "queue_name": "-p", "accounting_id": "-A"}
    words = [word for name in letters if name in options for word in (letters[name], options[name])]
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return ["sbatch", *words, "-t", clock, *options["native"]]


def install_app(folder: Path, **settings: object) -> Path:
    app = folder / "app"
    shutil.copytree(APP, app)
    given = yaml.safe_load((app / "settings.yml").read_text())
    assert set(settings) <= set(given), "a setting that the app does not have"
    (app / "settings.yml").write_text(yaml.safe_dump(given | FILLED_IN | settings))
    return app


def ruby(app: Path, folder: Path, typed: dict[str, str] | None = None):
    words = ["ruby", str(STAND_IN), str(app), str(folder)]
    return subprocess.run(words, input=json.dumps(typed or {}), capture_output=True, text=True)
