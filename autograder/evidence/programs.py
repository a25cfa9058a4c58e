"""Check whether the submitted program is the one that ran, and what the student changed in it.

The hashes of the files that ran come from the run record. The texts come from the submission and
the release. Only `.py` files count as programs. Job files are compared with the release, too.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from autograder.codes import EvidenceLevel, FindingCode as Code
from autograder.evidence.examine import Examined
from autograder.evidence.outside_gaps import MOST_LINES, Line, compare, marks_of, meaningful
from autograder.notes import Note, make_note
from autograder.records import Run
from autograder.safe_text import shortened
from autograder.settings.rubric import Pieces
from autograder.submissions.texts import HandedIn
from autograder.text_hash import text_hash
from autograder.verdict import ChangedLine, FilledGap, ProgramText
from autograder.wording import counted

MOST_SHOWN = 200  # maximum lines per program
LONGEST = 160  # of a line, as it is shown


@dataclass(frozen=True, slots=True)
class Ran:
    """A program file that ran, and the submitted programs with its name or one of its texts."""

    name: str
    hashes: Mapping[str, str]  # each with an output that reports it
    where: Run
    submitted: Sequence[HandedIn]

    @property
    def output(self) -> str:
        return next(iter(self.hashes.values()))

    @property
    def as_it_ran(self) -> list[HandedIn]:
        """Return the submitted programs whose text equals one that ran."""
        return [program for program in self.submitted if program.hash in self.hashes]

    @property
    def replaced_by(self) -> HandedIn | None:
        """Return a submitted program with this name, unless the one that ran was submitted too."""
        replaced = self.submitted and self.hashes and not self.as_it_ran
        return self.submitted[0] if replaced else None


def files_that_ran(runs: Sequence[Run], programs: Sequence[HandedIn]) -> list[Ran]:
    """Return the program files of the runs that count.

    A file has several hashes if it changed between two runs.
    """
    hashes: dict[str, dict[str, str]] = {}
    first: dict[str, Run] = {}
    for run in runs:
        for name, hash_ in run.program.files.items() if run.program else ():
            first.setdefault(name, run)
            outputs = hashes.setdefault(name, {})
            if hash_:
                outputs.setdefault(hash_, run.files[0] if run.files else "?")
    return [
        Ran(name, ran, first[name], [p for p in programs if p.is_called(name) or p.hash in ran])
        for name, ran in hashes.items()
    ]


def with_programs(
    seen: Examined,
    runs: Sequence[Run],
    programs: Sequence[HandedIn],
    released: Mapping[str, Pieces],
    solved: Mapping[str, Pieces],
    probes: Sequence[Run] = (),
) -> tuple[Examined, tuple[ProgramText, ...]]:
    """Return the evidence with findings about the programs, and the texts for the instructor.

    `probes` are runs that test the program of another run.
    """
    ran = files_that_ran(runs, programs)
    texts = tuple(compared(ran, programs, released, solved))
    findings = [*other_programs(ran), *changed_probes(probes, released)]
    tier, reason = seen.tier, seen.reason
    doubtful = [one for one in findings if one.doubtful]
    if doubtful and tier == EvidenceLevel.CONFIRMED:
        tier, reason = EvidenceLevel.SELF_CONSISTENT, f"{reason}, but: {doubtful[0].title}"
    # Files without gaps need no changes, so nobody has to submit them.
    missing = [
        file.name
        for file in ran
        if not file.submitted and as_released(released.get(file.name, ())) not in file.hashes
    ]
    if missing and tier in (EvidenceLevel.SELF_CONSISTENT, EvidenceLevel.CONFIRMED):
        reason += f"; not submitted: {shortened(', '.join(missing), 80)}"
    return Examined(tier, reason, (*seen.findings, *findings)), texts


@lru_cache(1000)
def as_released(pieces: Pieces) -> str | None:
    """Return the hash of a program without gaps, or None if it has gaps."""
    return text_hash("\n".join(pieces[0]).encode()) if len(pieces) == 1 else None


# --- compared with what ran --------------------------------------------------------------------


def other_programs(ran: Sequence[Ran]) -> Iterator[Note]:
    for file in ran:
        if other := file.replaced_by:
            name, output = shortened(file.name, 60), shortened(file.output, 60)
            expected = f"{name} as it was in the run of {output}"
            found, where = f"another text in {shortened(other.name, 80)}", file.where.rank_lines[:1]
            advice = "run the job again with this program, or submit the program that ran"
            yield make_note(Code.OTHER_PROGRAM, expected, found, where, advice)


def changed_probes(probes: Sequence[Run], released: Mapping[str, Pieces]) -> Iterator[Note]:
    """Yield a finding for each released file without gaps that a probe ran with another text."""
    changed = {
        name: run
        for run in probes
        for name, hash_ in (run.program.files if run.program else {}).items()
        if hash_ and hash_ != (as_released(released.get(name, ())) or hash_)
    }
    for name, run in changed.items():
        expected = f"{shortened(name, 60)} as released"
        found, advice = "another text", "compare it with the released file"
        yield make_note(Code.PROBE_CHANGED, expected, found, run.rank_lines[:1], advice)


# --- compared with what was released -------------------------------------------------------------


def compared(
    ran: Sequence[Ran],
    programs: Sequence[HandedIn],
    released: Mapping[str, Pieces],
    solved: Mapping[str, Pieces],
) -> Iterator[ProgramText]:
    """Yield programs with gaps, programs changed outside the gaps, and programs of no lesson."""
    current = [program for file in ran for program in file.as_it_ran]
    old = [p for file in ran if file.as_it_ran for p in file.submitted if p not in current]
    for program in programs if released else ():
        if program in old:
            continue
        if program.hash is None:
            yield ProgramText(program.name, "could not be read as text")
            continue
        ran_as = [file.name for file in ran if program in file.submitted]
        name = next((n for n in released if program.is_called(n) or n in ran_as), None)
        if name is None or len(program.lines) > MOST_LINES:
            marked = (line for line in meaningful(program.lines) if marks_of(line[1]))
            what = f", too long to compare with {name}" if name else " of the student's own"
            note = f"{counted(len(program.lines), 'line')}{what}"
            yield text_of(program, note, [changed_line("own", line) for line in marked])
            continue
        text = changed(program, name, released[name], solved.get(name, ()))
        if text.lines or text.gaps or not program.is_called(name):
            yield text


def changed(program: HandedIn, name: str, pieces: Pieces, solution: Pieces) -> ProgramText:
    """Return the changes to a program, which was released as `name`."""
    differences = compare(pieces, program.lines)
    gaps = []
    for number, lines in differences.in_gaps.items():
        solved = solution[number] if number < len(solution) else ()
        usual = {mark for line in solved for mark in marks_of(line)}
        mine = tuple(changed_line("gap", line, usual) for line in lines[:MOST_SHOWN])
        gaps.append(FilledGap(mine, tuple(shortened(line, LONGEST) for line in solved)))
    outside = [changed_line("-", line) for line in differences.removed]
    outside += [changed_line("+", line) for line in differences.added]
    differ = "differs" if len(outside) == 1 else "differ"
    note = f"{counted(len(outside), 'line')} outside the gaps {differ} from {name} as released"
    if not outside:
        note = f"{name} as released" + ("" if program.is_called(name) else ", under another name")
    return replace(text_of(program, note, outside), gaps=tuple(gaps))


def changed_line(kind: str, line: Line, usual: Collection[str] = ()) -> ChangedLine:
    """Return a program's line as the instructor sees it, with the marks that are not usual."""
    number, text = line
    marks = [mark for mark in marks_of(text) if mark not in usual]
    return ChangedLine(kind, number, shortened(text, LONGEST), ", ".join(marks))


def text_of(program: HandedIn, note: str, lines: Sequence[ChangedLine]) -> ProgramText:
    in_order = sorted(lines, key=lambda line: line.number)
    shown, rest = in_order[:MOST_SHOWN], in_order[MOST_SHOWN:]
    return ProgramText(program.name, note, tuple(shown), left_out=len(rest))
