from datetime import UTC, datetime, timedelta

from tests.cli.running import Fe

TEST = ("--environment", "testecf")


def test_each_day_of_a_period_is_there(fe: Fe, tenant: str) -> None:
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    where = ("usage", "--tenant", tenant, *TEST)

    month = fe(*where, "--json").json
    days = fe(*where, "--from", str(yesterday - timedelta(days=2)), "--to", str(yesterday), "--json").json

    assert len(month) in (30, 31)  # at midnight, yesterday is another day
    assert [day["date"] for day in days] == [str(yesterday - timedelta(days=n)) for n in (2, 1, 0)]
    assert {day["emissionsSubmitted"] for day in days} == {0}
    assert {day["bytesIn"] for day in days} == {"0"}


def test_a_period_that_cannot_be_is_refused(fe: Fe, tenant: str) -> None:
    where = ("usage", "--tenant", tenant, *TEST)

    assert "at most 180 days" in fe(*where, "--from", "2020-01-01").err
    assert fe(*where, "--from", "2020-02-01", "--to", "2020-01-01").code == 2
