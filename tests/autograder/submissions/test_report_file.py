"""A submitted report.md is found beside the outputs or in a package, and only one counts."""

import zipfile

from autograder.submissions.lesson_files import read_places
from autograder.submissions.texts import parse_report, report_of

TEXT = "# R\n## Question\n\nWhy is that so?\n"


def found(*places):
    return report_of(read_places("12", places).reports)


def test_it_is_taken_from_a_folder_and_from_a_package(tmp_path, collect):
    folder = tmp_path / "12_scaling"
    folder.mkdir()
    (folder / "report.md").write_text(TEXT)
    (folder / "a.out").write_text("Epoch 1/3\n")
    packed = tmp_path / "down" / "ada.zip"
    packed.parent.mkdir()
    with zipfile.ZipFile(packed, "w") as zipped:
        for file in folder.iterdir():
            zipped.write(file, f"12_scaling/{file.name}")
    for place in (tmp_path / "12_scaling", collect(tmp_path / "down").folder / "ada/12"):
        report, findings = found(place)
        assert (report.name, report.parts["question"][0]) == ("report.md", "Why is that so?")
        assert findings == []


def test_of_two_the_one_at_the_top_counts_and_it_is_said(tmp_path):
    folder = tmp_path / "12_scaling"
    (folder / "old").mkdir(parents=True)
    (folder / "report.md").write_text(TEXT)
    (folder / "old" / "report.md").write_text(TEXT.replace("Why", "How"))
    report, [finding] = found(folder)
    assert report.parts["question"][0].startswith("Why")
    assert "2; report.md counts" in finding.actual


def test_headings_and_comments():
    report = parse_report(
        "## Law  ##\nf\n<!-- write\n## Question\nhere -->\n## Empty\n### a\n\n"
        "## Table\n### b\n| 1 |\n",
        "r.md",
    )
    texts = {title: text for title, (text, _) in report.parts.items()}
    assert texts == {"law": "f", "empty": "", "table": "| 1 |"}
