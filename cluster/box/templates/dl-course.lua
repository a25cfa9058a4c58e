help([[The environment of Deep Learning on Supercomputers: Python with TensorFlow, PyTorch, Horovod and MPI.]])
whatis("Name: dl-course")
whatis("Version: 1.0")
prepend_path("PATH", "@VENV@/bin")
setenv("VIRTUAL_ENV", "@VENV@")
setenv("COURSE_HOME", "@COURSE@")
if ("@COURSE_DATA@" ~= "") then
    setenv("COURSE_DATA", "@COURSE_DATA@")
end
