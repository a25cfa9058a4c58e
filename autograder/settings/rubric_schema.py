"""The fields of a rubric, and the rules for each part."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from autograder.measuring.metrics import metric_named
from autograder.reading.formats import template
from autograder.reading.line_facts import Reader
from autograder.settings.strict_yaml import refuse_unknown_fields

Profile = Literal["smoke", "full"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
Scalar = str | int | float | bool


# --- what several fields need ---------------------------------------------------------------


def check_metric(name: str, base: str | None = None, at: Iterable[str] = ()) -> str:
    """Return the metric's name if a rubric can use it with this base, and these keys of `at`."""
    try:
        metric = metric_named(name)
    except KeyError:
        raise ValueError(f"no metric is called {name!r}; docs/rubrics.md lists them") from None
    missing, unknown = metric.at.keys() - at, {*at} - metric.at.keys()
    if (metric.needs_at and missing) or (unknown and not metric.any_at):
        example = ", ".join(f"{key}: {value}" for key, value in metric.at.items())
        what = "needs" if metric.needs_at else "can have"
        raise ValueError(f"{name} {what} `at: {{{example}}}` and nothing else in `at`")
    if (base is None) == metric.base:
        raise ValueError(f"{name} {'needs a' if metric.base else 'has no'} base")
    return name


def check_size(name: str) -> str:
    if not metric_named(check_metric(name)).of_a_run:
        raise ValueError(f"{name} does not measure one run by itself")
    return name


MetricOfARun = Annotated[str, AfterValidator(check_metric)]
Size = Annotated[str, AfterValidator(check_size)]
OneOrSeveral = BeforeValidator(lambda written: [written] if isinstance(written, str) else written)
PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def tolerance(written: str | float) -> tuple[float, float]:
    """Return a tolerance such as "2%" or 0.01 as (relative, absolute)."""
    if isinstance(written, str):
        percent = PERCENT.fullmatch(written)
        if not percent:
            raise ValueError(f"a tolerance is a number or a percentage, not {written!r}")
        return float(percent[1]) / 100, 0.0
    if written < 0:
        raise ValueError("a tolerance is not negative")
    return 0.0, float(written)


# --- parts of a rubric ----------------------------------------------------------------------


class Strict(BaseModel):
    """A part of a settings file. A field that it does not know is a mistake."""

    model_config = ConfigDict(strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_known_fields(cls, written: Any) -> Any:
        return refuse_unknown_fields(cls, written)


class Threshold(Strict):
    """A number or word, which may differ by profile or depend on the calibration or a metric."""

    value: float | str | None = None
    smoke: float | str | None = None
    full: float | str | None = None
    of_reference: float | None = None  # fraction of what the solution reaches on this site
    metric: MetricOfARun | None = None  # of the run named by `of`, otherwise of the same run
    of: str | None = None
    factor: float = 1.0
    plus: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, written: Any) -> Any:
        return written if isinstance(written, dict) else {"value": written}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = sum(k is not None for k in (self.value, self.smoke, self.of_reference, self.metric))
        if kinds != 1 or (self.smoke is None) != (self.full is None):
            raise ValueError("give one of: a value, both smoke and full, of_reference, metric")
        return self

    def fixed(self, profile: Profile) -> float | str | None:
        """Return the profile's number or word, or None if the threshold is relative."""
        return getattr(self, profile) if self.value is None else self.value


OPERATORS = ("at_least", "at_most", "above", "below", "equal")


class Condition(Strict):
    """A condition, which compares a metric of one or more runs with a threshold."""

    metric: str
    of: Annotated[list[str], Field(min_length=1), OneOrSeveral]
    at: dict[str, Scalar] = {}  # the point of a `measure:NAME`
    base: str | None = None  # for speedup and efficiency
    minus: str | None = None  # compare the difference from this run's value
    over: str | None = None  # compare the ratio to this run's value
    take: Literal["each", "best"] = "each"  # which of the runs have to satisfy it
    at_least: Threshold | None = None
    at_most: Threshold | None = None
    above: Threshold | None = None
    below: Threshold | None = None
    equal: Threshold | None = None
    tolerance: str | float = 0.0
    # half of the points here, all at the threshold, linear in between
    half_from: Threshold | None = None
    zero_from: Threshold | None = None  # no points here, all at the threshold, linear in between
    real_data: bool = False  # whether it is waived for a run on the synthetic stand-in
    only: Profile | None = None
    # The student has to run the job again if this is missed, or if its repeats are too noisy.
    run_again: Literal["missed", "noisy"] | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        check_metric(self.metric, self.base, self.at)
        if sum(getattr(self, name) is not None for name in OPERATORS) != 1:
            raise ValueError(f"give one of: {', '.join(OPERATORS)}")
        if (self.half_from and self.zero_from) or (self.minus and self.over):
            raise ValueError("give half_from or zero_from, and minus or over, not both")
        if (self.half_from or self.zero_from) and not (self.at_least or self.at_most):
            raise ValueError("half_from and zero_from need at_least or at_most")
        bounds = filter(None, (self.threshold, self.half_from, self.zero_from))
        values = [value for b in bounds for value in (b.value, b.smoke, b.full)]
        if not self.equal and any(isinstance(value, str) for value in values):
            raise ValueError("only `equal` compares words; write a number, without a unit")
        tolerance(self.tolerance)
        return self

    @property
    def runs(self) -> list[str]:
        """Return the names of all runs that the condition needs."""
        thresholds = (self.threshold, self.half_from, self.zero_from)
        others = [self.base, self.minus, self.over, *(t.of for t in thresholds if t)]
        return [*self.of, *filter(None, others)]

    @cached_property
    def operator(self) -> str:
        return next(name for name in OPERATORS if getattr(self, name) is not None)

    @cached_property
    def threshold(self) -> Threshold:
        return getattr(self, self.operator)


class Draw(Strict):
    """Questions that are drawn for each student: all parts of `count` items of a pool."""

    pool: str
    count: int = Field(ge=1)


class RubricCheck(Strict):
    """A line of the grade: conditions on runs, or a share of right answers or headings.

    With `by_hand` instead of `points`, the instructor gives the points in overrides.csv.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    points: float = Field(ge=0)
    by_hand: float | None = None
    require: list[Condition] = []
    answers: list[str] = []
    draw: Draw | None = None
    report: list[str] = []  # headings of report.md that must be there and not empty
    only: Profile | None = None
    if_present: bool = False  # whether it is left out if no run that only it needs was submitted
    try_: str = Field("", alias="try")

    @model_validator(mode="before")
    @classmethod
    def _points_by_hand(cls, written: Any) -> Any:
        if not isinstance(written, dict) or "by_hand" not in written:
            return written
        if "points" in written:
            raise ValueError("give points or by_hand, not both")
        return written | {"points": written["by_hand"]}

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = sum(map(bool, (self.require, self.answers, self.draw, self.report)))
        if kinds - bool(self.report) if self.by_hand is not None else kinds != 1:
            raise ValueError("give one of require, answers, draw and report; by_hand has a report")
        return self

    def conditions(self, profile: Profile) -> list[Condition]:
        """Return the conditions that count in a profile."""
        return [condition for condition in self.require if condition.only in (None, profile)]


class Question(Strict):
    """One question of answers.txt."""

    ask: str
    kind: Literal["prediction", "number", "word", "interval"]
    unit: str = ""
    metric: str | None = None  # a metric of the student's own run `of`
    of: str | None = None
    base: str | None = None
    at: dict[str, Scalar] = {}
    tolerance: str | float = 0.0
    # For an interval: the maximum ratio of its upper to its lower end.
    widest: float | None = Field(None, gt=1)
    choices: list[str] = []
    try_: str = Field("", alias="try")

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.metric:
            check_metric(self.metric, self.base, self.at)
        if (self.metric is None) != (self.of is None) or (self.metric and self.kind != "number"):
            raise ValueError("a number can have a metric and `of`: both or none of them")
        if (self.kind == "interval") != (self.widest is not None):
            raise ValueError("an interval needs `widest`, and no other kind has it")
        tolerance(self.tolerance)
        return self


class Pool(Strict):
    """Items of which each student draws some, and the questions that are asked about each."""

    items: list[str] = []  # or in the file pools/NAME.yaml
    ask: dict[str, Question] = Field(min_length=1)


class RunChoice(Strict):
    """The criteria for choosing a named run: its header must contain all these facts.

    If no record has these facts, an output without a record counts if its format is in `or_format`.
    """

    where: dict[str, Scalar] = Field(min_length=1)
    or_format: list[str] = []
    train_samples: Threshold | None = None  # required size, if it differs from the lesson's
    # Of these runs, only those with the smallest or largest value of this metric.
    smallest: Size | None = None
    largest: Size | None = None
    # Of these runs, only those with the program of the run that counts for this name: files that
    # both import are equal, `program_files` (by default, its main program) are in both, and these
    # facts of their headers are equal.
    program_of: str | None = None
    program_files: list[str] = []
    same_facts: list[str] = []


class OwnFormat(Strict):
    """A format that a course defines for its own programs (docs/rubrics.md)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    templates: list[str] = []  # lines as the program prints them, with {fields}

    @model_validator(mode="after")
    def _can_be_used(self) -> Self:
        self.reader()
        return self

    def reader(self) -> Reader:
        return template.load_reader(self.name, self.templates)


class Rubric(Strict):
    lesson: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")
    title: str
    points: float = Field(gt=0)
    train_samples: Threshold | None = None  # required size of a run
    formats: list[OwnFormat] = []
    runs: dict[str, RunChoice] = {}
    checks: list[RubricCheck] = Field(min_length=1)
    answers: dict[str, Question] = {}
    pools: dict[str, Pool] = {}

    def worth(self, profile: Profile) -> float:
        """Return the points of all checks of a profile."""
        return sum(check.points for check in self.checks if check.only in (None, profile))

    def own_runs(self, check: RubricCheck) -> set[str]:
        """Return the runs that a check needs and that no check without `if_present` needs."""
        return needed_runs([check]) - needed_runs(c for c in self.checks if not c.if_present)


def needed_runs(checks: Iterable[RubricCheck]) -> set[str]:
    """Return the names of the runs on which the checks have conditions."""
    return {name for check in checks for condition in check.require for name in condition.of}


def depends_on_profile(part: object) -> bool:
    """Return whether the two profiles judge this rubric, or part of one, differently."""
    if isinstance(part, Threshold):
        return part.smoke != part.full
    if isinstance(part, BaseModel):
        return getattr(part, "only", None) is not None or depends_on_profile(dict(part))
    if isinstance(part, dict):
        return any(map(depends_on_profile, part.values()))
    return isinstance(part, list) and any(map(depends_on_profile, part))


def own_readers(rubric: Rubric | None) -> list[Reader]:
    """Return readers for the formats in a rubric."""
    return [own.reader() for own in rubric.formats] if rubric else []
