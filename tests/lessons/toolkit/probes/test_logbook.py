"""Tests of what a journal says about lives, lost steps, and samples read."""

import json

from lessons.toolkit.probes.logbook import lines_of, lives_of, read_wrong, told_by_journals


def written(folder, plan):
    """Play lives of one rank. plan: for each life, its first step, and the samples of each step."""
    lines = []
    for life, (first, steps) in enumerate(plan):
        lines.append({"life": life, "begin": first})
        for place, samples in enumerate(steps, first):
            lines.append({"life": life, "step": place, "read": samples})
            lines.append({"life": life, "done": place + 1, "loss": 1.0})
        lines.append({"life": life, "saved": first + len(steps), "seconds": 0.5})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "journal_0.jsonl").write_text(text + '{"life": 1, "do')  # cut by a kill
    lines = list(lines_of(folder, 0))
    return [lines], lives_of(lines)


def test_steps_that_a_later_life_repeats_are_lost(tmp_path):
    books, lives = written(tmp_path, [(0, [[0], [1], [2]]), (1, [[1], [2], [3]])])
    assert [life["lost"] for life in lives] == [2, 0]
    assert [life["ended"] for life in lives] == ["kill", "end"]
    assert read_wrong(books, lives, 4, 4) == 0


def test_a_sample_that_is_read_twice_or_never_counts(tmp_path):
    books, lives = written(tmp_path, [(0, [[0], [1]]), (2, [[1], [2]])])
    assert [life["lost"] for life in lives] == [0, 0]
    assert read_wrong(books, lives, 4, 4) == 2


def test_the_worst_epoch_counts(tmp_path):
    books, lives = written(tmp_path, [(0, [[0, 1], [2, 3], [3, 3], [3, 3]])])
    assert read_wrong(books, lives, 2, 4) == 4


def test_the_numbers_of_a_job_that_was_killed_once(tmp_path):
    written(tmp_path, [(0, [[0], [1], [2]]), (1, [[1], [2], [3]])])
    numbers = told_by_journals(tmp_path, every=2, each=4, samples=4)
    assert numbers["lives"] == 2
    assert (numbers["lost_to_kill"], numbers["lost_over_interval"]) == (2, 1)
    assert (numbers["read_wrong"], numbers["stop_s"]) == (0, 0.5)
    assert "lost_to_warning" not in numbers
