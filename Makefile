# Every target that needs Python makes .venv first; when it is complete, this takes 0.1 s.
PYTHON ?= python3
SET_UP = $(PYTHON) -m cluster.environment
# Tests of one file run one after the other (tests/conftest.py). The long ones often wait for ranks, servers
# and jobs, so three run at a time on two cores.
PYTEST = .venv/bin/pytest --numprocesses 3 --dist loadscope --no-loadscope-reorder -rs
ELSEWHERE = slow or slurm or browser or ruby or root or namespaces or logs
NIGHTLY ?= nightly

.DEFAULT_GOAL := help
.PHONY: demo speed-job example pictures lab test test-all test-rest test-nightly lint planted incidents lessons book bench box-up box-down \
    clean help .venv horovod tools

# It opens on a start page. Its terminals begin in `lessons` and know the course's commands. As root, as in most containers,
# JupyterLab starts only when told that this is meant. More of its options: make lab LAB_OPTIONS="--ip=0.0.0.0 --no-browser"
TERMINAL = {"shell_command": ["bash", "--rcfile", "$(CURDIR)/cluster/jupyter/terminal.sh"]}
lab: .venv        ## open the lessons in JupyterLab; Horovod is compiled meanwhile
	@mkdir -p build; nice $(SET_UP) horovod >build/horovod.log 2>&1 &
	@[ "$$(id -u)" != 0 ] || set -- --allow-root; cd lessons; PATH="$(CURDIR)/.venv/bin:$$PATH:$(CURDIR)/cluster/jobs/laptop_bin" \
	    JUPYTER_CONFIG_PATH="$(CURDIR)/lessons/student/jupyter_config:$$JUPYTER_CONFIG_PATH" \
	    jupyter lab "$$@" --ServerApp.terminado_settings='$(TERMINAL)' $(LAB_OPTIONS)

ifeq ($(wildcard solutions),)
NOT_HERE = /^else/,/^endif/d; # targets that `help` leaves out
demo example pictures test test-all test-rest test-nightly planted incidents lessons book bench:
	@echo "This is the students' edition: it has no solutions and no tests. Begin with: make lab"; exit 1
else
ONE_CORE = This machine has one core, on which two ranks would take turns: there is no speedup to show.

demo: .venv       ## run lesson 02 and the speed job of lesson 10 on this machine, then grade them
	@rm -rf build/demo
	.venv/bin/lessons run 02 --edition solutions --site laptop --out build/demo/run
	.venv/bin/lessons submit 02 --in build/demo/run/02_serial --out build/demo/submissions/you/02.zip
	.venv/bin/autograder rubric part 02 --out build/demo/rubrics
	@$(MAKE) --no-print-directory speed-job
	.venv/bin/autograder collect build/demo/submissions --from folders \
	    --rubrics build/demo/rubrics --into build/demo/class || [ $$? = 1 ]
	.venv/bin/autograder grade build/demo/class --rubrics build/demo/rubrics --profile smoke \
	    --out build/demo/grades || [ $$? = 1 ]

speed-job:
	@if [ $$(.venv/bin/python -c 'from cluster.schedulers.laptop.cores import *; print(len(whole_cores()))') = 1 ]; \
	then echo "$(ONE_CORE)"; else set -e; \
	cp -rL solutions/10_native build/demo/run/10_speed; cd build/demo/run/10_speed; \
	COURSE_SITE="$(CURDIR)/cluster/sites/laptop.sh" \
	    ../../../../.venv/bin/cluster submit --wait job_speed.sbatch; cd ../../../..; \
	cp -r build/demo/run/10_speed build/demo/submissions/you/10; \
	.venv/bin/autograder rubric part 10 speed --out build/demo/rubrics; fi

# The grader needs a few small packages: where there is no .venv, they get an environment of their own.
GRADER = $(if $(wildcard .venv/bin/autograder),.venv/bin/python,build/grader/bin/python)

example:          ## grade a small class, without the frameworks, to see what instructors and students get
	@[ -x .venv/bin/autograder ] || [ -x build/grader/bin/autograder ] || { \
	$(SET_UP) check && \
	echo "Setting up build/grader: a few small packages, in about a minute" && \
	$(PYTHON) -m venv --clear build/grader && build/grader/bin/pip install --quiet \
	    --constraint cluster/environment/locked.txt --editable .; }
	@rm -rf build/example/class build/example/grades # but not overrides of yours
	@$(GRADER) -m tests.example.class_of_five build/example
	@$(GRADER) -m autograder grade build/example/class --roster build/example/roster.csv \
	    --profile smoke --out build/example/grades || [ $$? = 1 ]

pictures: tools example ## make the pictures of the documentation (Chromium)
	@.venv/bin/python -m tests.example.pictures build/example

test:             ## the quick tests (a few minutes; the first time it compiles Horovod)
	@$(SET_UP) tools horovod
	@$(PYTEST) -m "not ($(ELSEWHERE) or nightly)"

test-all:         ## all tests: whole lessons, a real Slurm (root), a real browser (Chromium), Ruby
	@$(PYTHON) -m tests.needs
	@$(MAKE) --no-print-directory test test-rest

test-rest:
	@$(PYTHON) -m tests.needs
	@$(SET_UP) tools horovod
	@$(PYTEST) --durations 40 -m "($(ELSEWHERE)) and not nightly"

test-nightly:     ## more ranks, sizes and versions than test-all tries
	@$(SET_UP) tools horovod
	@$(PYTEST) -m "$(NIGHTLY)"

lint: tools       ## formatting, lint, types and who imports whom
	@.venv/bin/ruff format --check .
	@.venv/bin/ruff check .
	@.venv/bin/mypy autograder cluster lessons
	@.venv/bin/lint-imports --no-logo --cache-dir build/import-linter

planted:          ## run all planted mistakes for real and keep what they print (15 minutes)
	@$(SET_UP) tools horovod
	@.venv/bin/python -m tests.lessons.planted

incidents: .venv  ## record lesson 17's incidents again, with SEED=NUMBER (ten minutes)
	@.venv/bin/python -m tests.lessons.incidents --seed $(SEED)

lessons: .venv    ## make the students' edition from solutions/
	@.venv/bin/lessons build

# It executes the lessons that build/book-runs lacks. More: make book BOOK_OPTIONS="--from build/runs"
book:             ## make the course as a site to read, in build/book (the first time: 20 minutes)
	@$(SET_UP) tools horovod
	@.venv/bin/lessons book $(BOOK_OPTIONS)

bench:            ## measure what we claim about speed
	@$(SET_UP) tools horovod
	@for file in $(filter-out benchmarks/gpu/%,$(wildcard benchmarks/*/*.py)); do echo "== $$file"; .venv/bin/python $$file || exit 1; done

endif

box-up:           ## start a real Slurm on this machine (root)
	@bash cluster/box/box up

box-down:         ## stop it
	@bash cluster/box/box down

.venv:            ## only the set-up, without Horovod
	@$(SET_UP)

tools:
	@$(SET_UP) tools

horovod:          ## compile Horovod for lessons 07 to 09 (2 to 8 minutes, only once)
	@$(SET_UP) horovod

clean:            ## delete .venv and all that was built here; the cached Horovod wheel stays
	@rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

help:
	@sed -n '$(NOT_HERE)s/^\([a-z.-]*\):.*## */make \1\t/p' Makefile | expand -t 18
