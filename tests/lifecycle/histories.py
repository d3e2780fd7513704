"""Whether what a database tells of its submissions is what the table of transitions allows."""

from typing import Any

import psycopg

from fe.lifecycle import Life, Unlawful

_HISTORIES = """
    SELECT s.status, s.number_fate,
           coalesce((SELECT o.stage FROM outbox AS o
                      WHERE o.tenant_id = s.tenant_id AND o.subject = s.submission_id),
                    (SELECT 'dead_letter' FROM dead_letters AS d
                      WHERE d.tenant_id = s.tenant_id AND d.subject = s.submission_id),
                    'ended') AS place,
           ARRAY(SELECT jsonb_build_array(e.kind, e.detail) FROM submission_events AS e
                  WHERE e.tenant_id = s.tenant_id AND e.submission_id = s.submission_id ORDER BY e.seq) AS events
      FROM submissions AS s
"""


def lived(events: list[Any]) -> Life:
    """Follow events, each a pair of its kind and what it says. Raises Unlawful."""
    life = Life()
    for kind, detail in events:
        life = life.after(kind, detail)
    return life


def unlawful(dsn: str) -> list[str]:
    """Every submission whose events are not lawful, or end elsewhere than its row says."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        told = conn.execute(_HISTORIES).fetchall()
    found = []
    for status, fate, place, events in told:
        kinds = " ".join(kind for kind, _ in events)
        try:
            life = lived(events)
        except Unlawful as wrong:
            found.append(f"{wrong}: {kinds}")
            continue
        if (life.place, life.status, life.fate) != (place, status, fate):
            found.append(f"{kinds} ends as {life}; the row: {place}, {status}, {fate}")
    return found
