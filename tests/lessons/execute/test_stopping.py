"""Tests of stopping on a signal: nothing of asyncio is printed."""

import subprocess
import sys
import textwrap


def test_a_signal_between_two_cells_prints_nothing():
    program = """
        import asyncio, os, signal
        from lessons.execute.stopping import StopRequested, stoppable

        def cells():
            with stoppable():
                next_cell = asyncio.sleep(0)
                os.kill(os.getpid(), signal.SIGTERM)
                asyncio.run(next_cell)

        try:
            cells()
        except StopRequested as stopped:
            print("stopped by", stopped.signum)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("stopped by 15\n", "")
