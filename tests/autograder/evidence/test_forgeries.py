"""Each forgery in the table is found, with accounting and without it.

The same outputs get no finding when nobody has changed them.
"""

import pytest

from tests.autograder.evidence.forged_class import said_of
from tests.autograder.evidence.forgeries import FORGERIES, HONEST
from tests.breadth import breadth


@pytest.mark.parametrize("honest", breadth(HONEST, quick=2), ids=lambda forgery: forgery.what)
def test_nothing_is_said_of_what_nobody_changed(honest):
    assert said_of(honest, accounted=False) == ("self-consistent", ())
    assert said_of(honest, accounted=True) == ("confirmed", ())


@pytest.mark.parametrize("forgery", breadth(FORGERIES, quick=4), ids=lambda forgery: forgery.what)
def test_a_forgery_is_seen_and_never_confirmed(forgery):
    for accounted, words in ((False, forgery.alone), (True, forgery.accounted or forgery.alone)):
        said = said_of(forgery, accounted)
        assert said.tier in ("contradicted", "self-consistent")
        assert words in said.findings if words else not said.findings, said
