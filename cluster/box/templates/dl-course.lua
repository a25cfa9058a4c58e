help([[The environment of Deep Learning on Supercomputers: Python with TensorFlow, PyTorch, Horovod and MPI.]])
whatis("Name: dl-course")
whatis("Version: 1.0")
prepend_path("PATH", "@VENV@/bin")
setenv("VIRTUAL_ENV", "@VENV@")
-- A lent interpreter looks for its own library in the folder that is closed, and would then take the
-- system's, of another version: its compiled modules (ssl) would not load.
if ("@PYTHON_LIBRARY@" ~= "") then
    prepend_path("LD_LIBRARY_PATH", "@PYTHON_LIBRARY@")
end
setenv("COURSE_HOME", "@COURSE@")
if ("@COURSE_DATA@" ~= "") then
    setenv("COURSE_DATA", "@COURSE_DATA@")
end
-- Ranks that wait for each other spin, which starves the others where many ranks share few real
-- cores; Open MPI cannot see that the cores are pretended. Lesson 02's Horovod program, four ranks,
-- 2,000 samples, two busy cores, three runs each: its second epoch took 7.3 to 11.5 s without this
-- and 0.26 to 0.92 s with it.
setenv("OMPI_MCA_mpi_yield_when_idle", "1")
-- The nodes meet on loopback, which Open MPI leaves out unless told; so ranks need no network card.
setenv("OMPI_MCA_btl_tcp_if_include", "lo")
