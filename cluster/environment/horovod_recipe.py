"""What must be changed in Horovod 0.28.1 to compile it with the frameworks of today, and why."""

from dataclasses import dataclass
from pathlib import Path

from cluster.environment.failure import SetUpError

VERSION = "0.28.1"
SOURCE_SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"


@dataclass(frozen=True)
class Substitution:
    """`old` must stand in `file` exactly once; `new` takes its place."""

    file: str
    old: str
    new: str
    why: str


SUBSTITUTIONS = (
    Substitution(
        "CMakeLists.txt",
        "set(CMAKE_CXX_STANDARD 14)",
        "set(CMAKE_CXX_STANDARD 17)",
        "PyTorch's and TensorFlow's headers ask for C++17",
    ),
    Substitution(
        "horovod/torch/CMakeLists.txt",
        "set(CMAKE_CXX_STANDARD 14)",
        "set(CMAKE_CXX_STANDARD 17)",
        "PyTorch's headers ask for C++17",
    ),
    Substitution(
        "horovod/tensorflow/CMakeLists.txt",
        'list(APPEND TF_SOURCES "${PROJECT_SOURCE_DIR}/horovod/tensorflow/xla_mpi_ops.cc")\n',
        "",
        "TensorFlow no longer ships the headers of its XLA operations",
    ),
    *(
        Substitution(
            f"horovod/tensorflow/keras/{name}.py",
            "from keras import backend as K",
            "K = keras.backend",
            "`keras` may be Keras 3; the file's own `keras` is the one TensorFlow was told to use",
        )
        for name in ("__init__", "callbacks")
    ),
    Substitution(
        "setup.py",
        "'RelWithDebInfo'",
        "'Release'",
        "without debug information the wheel has 2 MB instead of 33",
    ),
)

GPU_SUBSTITUTIONS = (
    Substitution(
        "horovod/tensorflow/mpi_ops.cc",
        "#endif // TENSORFLOW_VERSION >= 2011000000\n#endif // HAVE_GPU\n",
        """#endif // TENSORFLOW_VERSION >= 2011000000
namespace stream_executor {
namespace gpu {
GpuStreamHandle AsGpuStreamValue(Stream* stream) {
  return static_cast<GpuStreamHandle>(stream->platform_specific_handle().stream);
}
} // namespace gpu
} // namespace stream_executor
#endif // HAVE_GPU
""",
        "TensorFlow no longer exports this function of its own",
    ),
)

BUILD_ENVIRONMENT = {
    "HOROVOD_WITH_PYTORCH": "1",
    "HOROVOD_WITH_TENSORFLOW": "1",
    "HOROVOD_WITHOUT_MXNET": "1",
    "HOROVOD_WITH_GLOO": "1",
    "HOROVOD_WITH_MPI": "1",
    # Gloo's build files were written for an older CMake.
    "CMAKE_POLICY_VERSION_MINIMUM": "3.5",
}
# From site-packages/horovod/torch to the environment's lib, where libmpi.so lies.
RPATH = "-Wl,-rpath,$ORIGIN/../../../.."
# And to site-packages/nvidia/nccl/lib, before what modules put into LD_LIBRARY_PATH: the framework
# loads that NCCL too.
NCCL_RPATH = "-Wl,--disable-new-dtags -Wl,-rpath,$ORIGIN/../../nvidia/nccl/lib"
# What Horovod calls the frameworks.
NAMES = {"torch": "PYTORCH", "tensorflow": "TENSORFLOW"}


def recipe(gpu: object = None) -> tuple[Substitution, ...]:
    return SUBSTITUTIONS + (GPU_SUBSTITUTIONS if gpu else ())


def patch(tree: Path, gpu: object = None) -> None:
    """Apply the recipe; refuse a source that does not look as expected."""
    for change in recipe(gpu):
        file = tree / change.file
        source = file.read_text() if file.is_file() else ""
        if source.count(change.old) != 1:
            raise SetUpError(
                f"Horovod's {change.file} does not look as in version {VERSION} "
                f"(`{change.old.strip()}` is there {source.count(change.old)} times, not once); "
                "the recipe in cluster/environment/horovod_recipe.py is for that version only"
            )
        file.write_text(source.replace(change.old, change.new))
