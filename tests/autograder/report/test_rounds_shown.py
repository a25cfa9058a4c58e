"""A speed job in the reports: the terminal's line, the page's picture, and the files."""

import re

import pytest

from tests.autograder.make_record import make_record, some_rounds, write_lines

FACTS = {"lesson": "07", "source": "speed", "model": "resnet20", "params": 273658, "seconds": ()}
ERROR = {"name": "update_error", "value": 0.0, "unit": "", "steps": 3}
SECONDS = [(0.40 + n / 100, 0.42 + n / 100, 0.45 + n / 100) for n in range(12)]


@pytest.fixture
def reports(tmp_path, grade):
    def with_rounds(*seconds, **more):
        measures = (ERROR, *some_rounds(*seconds, **more))
        lines = make_record(**FACTS, size=2, measures=measures)
        write_lines(tmp_path / "class" / "ada" / "07" / "07_speed_1.out", lines)
        return grade(tmp_path / "class", "--profile", "smoke")

    return with_rounds


def test_the_page_draws_each_round(reports):
    page = (reports(*SECONDS).folder / "students" / "ada.html").read_text()
    [picture] = [svg for svg in re.findall(r"<svg class.*?</svg>", page) if "each round" in svg]
    assert picture.count('<rect class="bar first"') == picture.count('<rect class="bar"') == 12
    heights = [float(h) for h in re.findall(r'height="([\d.]+)"/>', picture)]
    assert all(
        silent > together > 0 for silent, together in zip(heights[::2], heights[1::2], strict=True)
    )
    assert 'class="ideal"' in picture
    assert "Median speedup 1.8" in page
    assert re.search(r'data-label="speedup"><span>1\.8\d <span class="dim">of at most 1\.9\d', page)
    assert re.search(r'<p class="met">Speedup on 2 ranks 1\.8\d \(', page)
