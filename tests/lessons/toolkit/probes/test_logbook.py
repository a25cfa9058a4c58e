"""Tests of what a logbook says about lives, lost steps, and samples read."""

from lessons.toolkit.probes.logbook import Logbook, lines_of, lives_of, read_wrong


def written(folder, plan):
    """Play lives of one rank. plan: for each life, its first step, and the samples of each step."""
    for first, steps in plan:
        book = Logbook(folder, 0, lambda value: [value])
        book.begin(first)
        for place, samples in enumerate(steps):
            book.read(samples)
            book.done(first + place + 1, 1.0)
        book.file.close()
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


def test_lives_are_counted_and_a_line_that_a_kill_cut_is_left_out(tmp_path):
    written(tmp_path, [(0, [[0]]), (1, [[1]])])
    with (tmp_path / "logbook_0.jsonl").open("a") as file:
        file.write('{"life": 1, "do')
    assert Logbook(tmp_path, 0, lambda value: [value]).life == 2
    assert len(list(lines_of(tmp_path, 0))) == 6
