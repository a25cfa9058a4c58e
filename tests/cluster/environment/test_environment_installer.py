"""Packages are installed with uv under the user's own pip settings, and with pip if uv fails."""

import json

import pytest

from cluster.environment import installer
from cluster.environment.failure import SetUpError

CONFIG = """\
$ python -m pip config list
:env:.find-links='/my/wheels'
global.cert='/etc/ours.pem'
global.extra-index-url='https://one.invalid/simple\\nhttps://two.invalid/simple'
global.index-url='https://other.invalid/simple'
install.index-url='https://mirror.invalid/simple'
"""


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Return a stand-in that records commands.

    Commands with the word `fails` in their name fail.
    """
    ran = []

    def run(command, log, *, env=None):
        words = [str(word) for word in command]
        ran.append((words, env))
        if run.fails and run.fails in words[0]:
            raise SetUpError(run.message)
        if "--report" in words:
            version = "2.13.0+cpu" if run.cpu_torch else "2.13.0"
            report = {"install": [{"metadata": {"version": version}}]}
            (tmp_path / "torch-choice.json").write_text(json.dumps(report))
        return CONFIG if words[-2:] == ["config", "list"] else ""

    run.fails, run.message, run.cpu_torch, run.ran = "", "it failed", True, ran
    monkeypatch.setattr(installer, "run", run)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    return run


def uv_calls(commands):
    return [(words, env) for words, env in commands.ran if words[0].endswith("/uv")]


def test_uv_gets_the_users_pip_settings(commands, tmp_path):
    installer.install(["click==8"], tmp_path / "packages.log")
    [(words, env)] = uv_calls(commands)
    text = " ".join(words)
    assert "--default-index https://mirror.invalid/simple" in text
    assert "other.invalid" not in text, "a setting for `pip install` replaces the global one"
    assert "--index https://one.invalid/simple --index https://two.invalid/simple" in text
    assert "--find-links /my/wheels" in text
    assert words[-1] == "click==8"
    assert env["SSL_CERT_FILE"] == "/etc/ours.pem"


@pytest.mark.parametrize("cpu_torch", [True, False])
def test_pytorch_is_never_the_cuda_build(commands, tmp_path, cpu_torch):
    commands.cpu_torch = cpu_torch
    installer.install(["torch==2.13.0"], tmp_path / "packages.log", torch_for_cpus=True)
    [(words, _)] = uv_calls(commands)
    assert ("--torch-backend" in words) != cpu_torch


def test_pip_installs_what_uv_cannot(commands, tmp_path):
    commands.fails = "/uv"
    installer.install(["click==8"], tmp_path / "packages.log")
    assert commands.ran[-1][0][1:4] == ["-m", "pip", "install"]
    assert commands.ran[-1][0][-1] == "click==8"
