"""Tests of the page on which an instructor sees what a student changed in the programs."""

from tests.autograder.evidence.handed_in_programs import TORCH, TRAIN, ran, solved, student
from tests.autograder.make_record import hand_in

LAZY = TORCH.replace("test_accuracy=accuracy)", "test_accuracy=0.99)  # <script>hit()</script>")
HOSTILE = '    print("<img src=x onerror=hit()>", "\u202egnp")\n'


def test_the_instructor_sees_each_line_and_the_student_none(tmp_path, graded):
    text = LAZY.replace("def main():\n", f"def main():\n{HOSTILE}")
    student(tmp_path / "class/ada", torch=ran(train_torch=text), train=TRAIN, train_torch=text)
    found, out = graded()
    assert found["score"] == 10.0
    assert (found["findings"], found["look"]) == ([], [])
    lines = {(line["kind"], line["text"].strip(), line["marks"]) for line in program_lines(found)}
    assert ("-", "run.end(test_loss=loss, test_accuracy=accuracy)", "") in lines
    assert ("+", HOSTILE.strip().replace("\u202e", "\\u202e"), "") in lines
    number = 1 + text.splitlines().index(HOSTILE.rstrip("\n"))
    page = (out / "programs/ada.html").read_text()
    assert "&lt;img src=x" in page
    assert f'<td class="number">{number}</td><td>new, outside the gaps' in page
    assert "<script>hit" not in page
    assert "<img" not in page
    assert 'href="programs/ada.html"' in (out / "index.html").read_text()
    assert "0.99)  #" not in (out / "students/ada.html").read_text()


def program_lines(found):
    return [line for program in found["programs"] for line in program["lines"]]


def test_what_is_mended_goes_from_the_pages(tmp_path, graded):
    student(tmp_path / "class/ada", torch=ran(train_torch=LAZY), train=TRAIN, train_torch=LAZY)
    _, out = graded()
    assert "0.99" in (out / "programs/ada.html").read_text()
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    _, out = graded()
    assert "0.99" not in (out / "programs/ada.html").read_text()
    hand_in(tmp_path / "class/ada/02")
    for path in (tmp_path / "class/ada/02").glob("*.py"):
        path.unlink()
    _, out = graded()
    assert list((out / "programs").iterdir()) == []
    assert "programs/" not in (out / "index.html").read_text()


def test_gaps_are_beside_the_solution_and_escaped(tmp_path, graded):
    body = "    x = '<script>alert(1)</script>\u202e'  # {{ 7 * 7 }}\n    time.sleep(1)"
    mine = solved("train.py", body)
    student(tmp_path / "class/ada", keras=ran(train=mine), train=mine, train_torch=TORCH)
    found, out = graded()
    [program] = [one for one in found["programs"] if one["file"] == "train.py"]
    assert {line["marks"] for gap in program["gaps"] for line in gap["lines"]} == {"", "sleep"}
    assert all(gap["solution"] for gap in program["gaps"])
    page = (out / "programs/ada.html").read_text()
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert program["gaps"][0]["solution"][0].strip() in (out / "programs/ada.html").read_text()


def test_open_gaps_are_marked(tmp_path, graded):
    unsolved = solved("train.py", '    raise NotImplementedError("Exercise 2.1: …")')
    student(tmp_path / "class/ada", keras=ran(train=unsolved), train=unsolved, train_torch=TORCH)
    _, out = graded()
    assert "not filled" in (out / "programs/ada.html").read_text()


def test_changes_in_a_job_file_are_on_the_page_and_no_finding(tmp_path, graded):
    mine = solved("job.sbatch").replace("#SBATCH --time", "#SBATCH --account=ml\n#SBATCH --time")
    student(tmp_path / "class/ada", train=TRAIN, train_torch=TORCH)
    job = tmp_path / "class/ada/02/job.sbatch"
    job.write_text(mine)
    found, _ = graded()
    assert "job.sbatch" not in [program["file"] for program in found["programs"]]
    job.write_text(mine + "python busy.py &\n")
    found, out = graded()
    [program] = [one for one in found["programs"] if one["file"] == "job.sbatch"]
    [line] = program["lines"]
    assert (line["kind"], line["marks"]) == ("+", "thread or process")
    assert found["findings"] == []
    assert "busy.py" in (out / "programs/ada.html").read_text()
