"""Write the report, either line by line as results arrive or all at once at the end."""

import sys
from dataclasses import dataclass, field

import click

from cluster.doctor import compare, table
from cluster.doctor.diagnosis import OK, Diagnosis, worst
from cluster.doctor.position import Position


@dataclass
class Report:
    as_json: bool
    at_the_end: bool
    everything: list[Diagnosis] = field(default_factory=list)
    position: Position | None = None  # the latest; it becomes more complete

    def show(self, position: Position, diagnoses: list[Diagnosis]) -> None:
        if not self.at_the_end and self.position is None:
            click.echo(table.title(position))
        before = compare.compared(self.everything)
        self.everything.extend(diagnoses)
        self.position = position
        if not self.at_the_end:
            new = [each for each in compare.compared(self.everything) if each not in before]
            for line in table.lines(new, position):
                click.echo(line)
            sys.stdout.flush()

    def finish(self) -> None:
        assert self.position is not None
        diagnoses = compare.compared(self.everything)
        if self.as_json:
            click.echo(table.dumped(diagnoses, self.position))
        elif self.at_the_end:
            table.draw(diagnoses, self.position)
        if not self.as_json:
            click.echo(table.summary(diagnoses))
        sys.stdout.flush()

    @property
    def all_is_well(self) -> bool:
        return worst(compare.compared(self.everything)) == OK
