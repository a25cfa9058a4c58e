help([[The environment of Deep Learning on Supercomputers: Python with TensorFlow, PyTorch, Horovod and MPI.]])
whatis("Name: dl-course")
whatis("Version: 1.0")
prepend_path("PATH", "@VENV@/bin")
setenv("VIRTUAL_ENV", "@VENV@")
setenv("COURSE_HOME", "@COURSE@")
if ("@COURSE_DATA@" ~= "") then
    setenv("COURSE_DATA", "@COURSE_DATA@")
end
-- Ranks that wait for each other spin, which starves the others where many ranks share few real
-- cores; Open MPI cannot see that the cores are pretended. Without this an epoch of lesson 02 with
-- four ranks takes 7 to 11 s on two cores, with it 0.3 to 0.9 s.
setenv("OMPI_MCA_mpi_yield_when_idle", "1")
-- The nodes meet on loopback, which Open MPI leaves out unless told; so ranks need no network card.
setenv("OMPI_MCA_btl_tcp_if_include", "lo")
