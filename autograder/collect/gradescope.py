"""Read who submitted what, and when, from the metadata that Gradescope writes.

assignment_77_export/submission_9001/… beside submission_metadata.yml     Export Submissions
/autograder/submission/… beside submission_metadata.json                  for its autograder
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from autograder.collect.download import About
from autograder.errors import SettingsError
from autograder.settings.claims import Claim

EXPORT, ALONE = "submission_metadata.yml", "submission_metadata.json"
WHOLE = "."  # the key of a single submission
TEXTS = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every value stays a text


def metadata(place: Path) -> dict[str, About]:
    """Return the students and the time of each submission, by its folder."""
    alone = place.parent / ALONE
    try:
        if alone.is_file():
            return {WHOLE: about(json.loads(alone.read_bytes()))}
        submissions = yaml.load((place / EXPORT).read_bytes(), TEXTS)
        return {name: about({key.lstrip(":"): value for key, value in facts.items()})
                for name, facts in submissions.items()}  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError, AttributeError, yaml.YAMLError):
        name = alone if alone.is_file() else place / EXPORT
        raise SettingsError(f"{name} is not the metadata that Gradescope writes") from None


def about(facts: Mapping[str, Any]) -> About:
    people = facts.get("submitters") or facts["users"]
    claims = (claim({key.lstrip(":"): text for key, text in one.items()}) for one in people)
    return About(tuple(claims), str(facts.get("created_at") or "").replace(" Z", "+00:00"))


def claim(person: Mapping[str, Any]) -> Claim:
    email, name, sid = (str(person.get(key) or "") for key in ("email", "name", "sid"))
    ids = [("email", email), *((kind, sid) for kind in ("sis_id", "login", "sis_login"))]
    return Claim(email or name or sid, (*(one for one in ids if one[1]), ("name", name)))
