"""The Horovod wheel: when it is built, from what, and when it is taken from the cache."""

import hashlib
import json
import threading
import time

import pytest

from cluster.environment import horovod_recipe as recipe, horovod_wheel as wheels
from cluster.environment.failure import SetUpError


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Return an empty cache folder for this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dl-course" / "horovod"


@pytest.fixture
def source(tmp_path):
    """Write the lines of Horovod's source that the recipes change, among lines that must stay."""
    tree = tmp_path / "horovod"
    found = {}
    for change in {**dict.fromkeys(recipe.recipe(gpu=True)), **dict.fromkeys(recipe.recipe())}:
        found.setdefault(change.file, []).append(change.old.rstrip())
    for name, lines in found.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("\n".join(["# before", *lines, "# after", ""]))
    return tree


def put_wheel(kept, content=b"a wheel"):
    kept.mkdir(parents=True)
    (kept / "horovod.whl").write_bytes(content)
    label = {"wheel": "horovod.whl", "sha256": hashlib.sha256(content).hexdigest()}
    (kept / "label.json").write_text(json.dumps(label))


@pytest.mark.parametrize("change", recipe.recipe(gpu=True), ids=lambda change: change.file)
def test_patch_refuses_another_source(source, change):
    (source / change.file).write_text("# another version\n")
    with pytest.raises(SetUpError, match=r"does not look as in version") as refused:
        recipe.patch(source, gpu=True)
    assert change.file in str(refused.value)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kept: (kept / "horovod.whl").write_bytes(b"a wh"),
        lambda kept: (kept / "horovod.whl").unlink(),
    ],
    ids=["cut off", "wheel gone"],
)
def test_a_broken_wheel_never_counts(shelf, spoil):
    kept = shelf / wheels.key({})
    put_wheel(kept)
    assert wheels.kept_wheel({})
    spoil(kept)
    assert wheels.kept_wheel({}) is None


def test_two_set_ups_build_once(shelf, tmp_path, monkeypatch, capsys):
    built = []

    def slow_build(shelf, kept, *_):
        built.append(kept)
        time.sleep(0.3)
        put_wheel(kept)
        return kept / "horovod.whl"

    monkeypatch.setattr(wheels, "build", slow_build)
    found = []
    both = [threading.Thread(target=lambda: found.append(wheels.wheel(tmp_path))) for _ in "12"]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(built) == 1
    assert found == [built[0] / "horovod.whl"] * 2
    assert "another set-up is building Horovod" in capsys.readouterr().out


def test_nccl_is_looked_for_before_anything_is_compiled(tmp_path, monkeypatch):
    for name in ("NCCL_HOME", "EBROOTNCCL", "CONDA_PREFIX", "CUDA_HOME", "HOROVOD_CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SetUpError, match=r"no include/nccl\.h .* --nccl-home"):
        wheels.gpu_environment(None)
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "nccl.h").touch()
    monkeypatch.setenv("HOROVOD_BUILD_CUDA_CC_LIST", "70")
    monkeypatch.setenv("CUDA_HOME", "/opt/cuda")
    monkeypatch.setenv("HOROVOD_WITH_MPI", "0")
    assert wheels.gpu_environment(str(tmp_path)) == {
        "HOROVOD_GPU_OPERATIONS": "NCCL",
        "HOROVOD_NCCL_HOME": str(tmp_path),
        "HOROVOD_NCCL_LINK": "SHARED",
        "HOROVOD_BUILD_CUDA_CC_LIST": "70",
        "CUDA_HOME": "/opt/cuda",
        "HOROVOD_CUDA_HOME": "/opt/cuda",
    }


@pytest.fixture
def nvidia(tmp_path, monkeypatch):
    """Write the files that the wheels for CUDA 13 put into site-packages."""
    files = ("nccl/include/nccl.h", "nccl/lib/libnccl.so.2", "cu13/bin/nvcc")
    for name in (*files, "cu13/lib/libcudart.so.13"):
        file = tmp_path / "nvidia" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    monkeypatch.setattr(wheels.nvidia_wheels, "folder", lambda: tmp_path / "nvidia")
    for name in ("NCCL_HOME", "EBROOTNCCL", "CONDA_PREFIX", "CUDA_HOME", "HOROVOD_CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "nvidia"


def test_pytorchs_horovod_takes_the_wheels_nccl_and_compiler(nvidia, monkeypatch):
    monkeypatch.setenv("NCCL_HOME", str(nvidia))  # set by a module
    for _ in "12":  # the second time, its links are already there
        found = wheels.gpu_environment(None, "torch")
    assert found == {
        "HOROVOD_GPU_OPERATIONS": "NCCL",
        "HOROVOD_NCCL_HOME": str(nvidia / "nccl"),
        "HOROVOD_NCCL_LINK": "SHARED",
        "HOROVOD_BUILD_CUDA_CC_LIST": "80,90",
        "CUDA_HOME": str(nvidia / "cu13"),
        "HOROVOD_CUDA_HOME": str(nvidia / "cu13"),
        "HOROVOD_WITHOUT_TENSORFLOW": "1",
    }
    assert (nvidia / "nccl/lib/libnccl.so").read_text() == "nccl/lib/libnccl.so.2"
    assert (nvidia / "cu13/lib64/libcudart.so").read_text() == "cu13/lib/libcudart.so.13"
    env = wheels.build_environment(found)
    assert {name for name in env if name.endswith(("_TENSORFLOW", "_PYTORCH"))} == {
        "HOROVOD_WITHOUT_TENSORFLOW",
        "HOROVOD_WITH_PYTORCH",
    }
    values = wheels.inputs(found)
    assert (values["torch"], values["tensorflow"]) == (wheels.inputs()["torch"], None)
    assert recipe.NCCL_RPATH in values["environment"]["LDFLAGS"]
