# Login shells find the course's module: `module load dl-course/1.0`.
if [ -n "${MODULESHOME:-}" ] && [ -d @STATE@/modules ]; then
    module use @STATE@/modules
fi
