"""Define the changes that Horovod 0.28.1 needs to compile with current frameworks, and why."""

from dataclasses import dataclass
from pathlib import Path

from cluster.environment.failure import SetUpError

VERSION = "0.28.1"
SOURCE_SHA256 = "92a43f5a94c43907a56805bad15f19700c62ffc83b7ca483f9e104e229f67ef0"


@dataclass(frozen=True)
class Substitution:
    """`new` replaces `old`, which must occur in `file` exactly once."""

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
        "without debug information, the wheel is 2 MB instead of 33 MB",
    ),
)


def compile_together(target: str, output: str) -> Substitution:
    """Compile a target's sources in a few pieces, with fewer optimisations."""
    properties = f"set_target_properties(${{{target}}} PROPERTIES"
    last_line = f'{properties} OUTPUT_NAME "{output}")\n'
    folder = {"PYTORCH_TARGET_LIB": "torch", "TF_TARGET_LIB": "tensorflow"}[target]
    return Substitution(
        f"horovod/{folder}/CMakeLists.txt",
        last_line,
        last_line
        + f"{properties} UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)\n"
        + f"target_compile_options(${{{target}}} PRIVATE -O2)\n",
        "most of the compiler's time goes into the frameworks' headers, read anew for each source",
    )


GLOO = "add_library(gloo ${GLOO_STATIC_OR_SHARED} ${GLOO_SRCS})\n"
# Two sources have a local name of their own for what a header also declares.
GLOO_TOGETHER = """\
set_target_properties(gloo PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
set_source_files_properties(allreduce.cc reduce.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
"""

# These options halve the compiler's work. They were not tried with CUDA's sources.
CPU_SUBSTITUTIONS = (
    compile_together("PYTORCH_TARGET_LIB", "mpi_lib_v2"),
    compile_together("TF_TARGET_LIB", "mpi_lib"),
    Substitution(
        "third_party/gloo/gloo/CMakeLists.txt",
        GLOO,
        GLOO + GLOO_TOGETHER,
        "its sources read the same headers, too",
    ),
    Substitution(
        "horovod/tensorflow/CMakeLists.txt",
        "set(Tensorflow_CXX17 TRUE)",
        "set(Tensorflow_CXX17 FALSE)",
        "otherwise Gloo is compiled twice, the second time for TensorFlow as C++17",
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
        "TensorFlow no longer exports its own version of this function",
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
# From site-packages/horovod/torch to the environment's lib, where libmpi.so is.
RPATH = "-Wl,-rpath,$ORIGIN/../../../.."
# And to site-packages/nvidia/nccl/lib, before what modules put into LD_LIBRARY_PATH: the framework
# loads that NCCL too.
NCCL_RPATH = "-Wl,--disable-new-dtags -Wl,-rpath,$ORIGIN/../../nvidia/nccl/lib"
# Horovod's names for the frameworks.
NAMES = {"torch": "PYTORCH", "tensorflow": "TENSORFLOW"}


def recipe(gpu: object = None) -> tuple[Substitution, ...]:
    return SUBSTITUTIONS + (GPU_SUBSTITUTIONS if gpu else CPU_SUBSTITUTIONS)


def patch(tree: Path, gpu: object = None) -> None:
    """Apply the recipe. Raise an error for a source file that does not look as expected."""
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
