"""The checklist of going live."""

from datetime import UTC, datetime

from fe.certification.going_live import LiveFacts, going_live


def test_certificate_that_ends_at_night_is_valid_until_the_day_of_santo_domingo() -> None:
    ends = datetime(2026, 12, 31, 2, tzinfo=UTC)  # 22:00 of the 30th there

    items = {one.code: one for one in going_live(LiveFacts("own", set(), ends, [], has_key=False, has_accepted=False))}

    assert items["certificate"].said.en == "valid until 2026-12-30"
    assert items["certificate"].said.es == "vigente hasta el 30-12-2026"
