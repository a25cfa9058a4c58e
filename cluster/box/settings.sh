# Names and numbers of the box.
# shellcheck shell=bash disable=SC2034

CLUSTER=box
NODES=4
NODE_CPUS=16
NODE_GPUS=4
LAST_NODE=$(printf %02d "$NODES")
LAST_GPU=$((NODE_GPUS - 1))
NODE_MEMORY=96000 # MB, pretended like the CPUs and GPUs
CPU_MEMORY=$((NODE_MEMORY / NODE_CPUS)) # of a job that does not ask for memory
ACCOUNT=course    # the Slurm account that students' jobs are charged to
FIRST_STUDENTS=(student1 student2)
# The laptop's queue begins at 1, and jobs of both may write to the same folder.
FIRST_JOB=100001

# The columns of sacct that the autograder reads (docs/box.md).
ACCOUNTING=jobid,user,account,jobname,partition,state,exitcode,derivedexitcode,submit,start,end
ACCOUNTING+=,elapsedraw,timelimitraw,nnodes,ncpus,alloctres,nodelist,submitline,jobidraw,ntasks,totalcpu,maxrss

# All addresses are on loopback: node N is 127.0.66.N. The controller has the address that its own
# connections come from, because the accounting calls it back there.
NET=127.0.66
CONTROLLER=boxctl
CONTROLLER_ADDRESS=127.0.0.1

# Kept between down and up: accounting records, Slurm's state, logs, the munge key.
STATE=/var/lib/dl-course-box
ETC=$STATE/etc
LOG=$STATE/log
RUN=$STATE/run # process ids, sockets and device nodes: gone after `box down`

# The three things outside the state folder; `box down` undoes them.
SLURM_LINK=/etc/slurm/slurm.conf
PROFILE_LINK=/etc/profile.d/zz-dl-course-box.sh # after Lmod's own, in alphabetical order
HOSTS=/etc/hosts
HOSTS_MARK='# dl-course-box'

CGROUPS=/sys/fs/cgroup/memory # of version 1

export SLURM_CONF=$ETC/slurm.conf
export PATH=$PATH:/usr/sbin:/sbin

node_names() { seq -f 'node%02g' 1 "$NODES"; }
