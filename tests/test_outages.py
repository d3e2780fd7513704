"""An outage is two lines of the log, however many calls fail in it."""

from structlog.testing import capture_logs

from fe.monitoring.outages import Outage


def test_outage_with_many_failures_is_one_line_and_one_more_with_their_number_at_its_end() -> None:
    """Once 85 s of it were 1,358 lines."""
    now = [0.0]
    outage = Outage("claim send", lambda: now[0])
    with capture_logs() as lines:
        outage.succeeded()
        for _ in range(1358):
            outage.failed(OSError("away"))
            now[0] += 85 / 1358
        outage.succeeded()
        outage.succeeded()

    assert [(line["event"], line["of"], line.get("failures"), line.get("seconds")) for line in lines] == [
        ("the database is away: retrying", "claim send", None, None),
        ("the database is back", "claim send", 1358, 85.0),
    ]
