"""Operators' pages: waiting work, dead letters and actions, over all tenants."""

from fe.portal.pages.operators import (
    actions,
    approvals,
    companies,
    dead_letters,
    in_doubt,
    lockouts,
    operator_keys,
    overview,
    owners,
    pauses,
    replays,
    runbooks,
    terms,
)

PAGES = (
    *actions.PAGES,
    *approvals.PAGES,
    *companies.PAGES,
    *dead_letters.PAGES,
    *in_doubt.PAGES,
    *lockouts.PAGES,
    *operator_keys.PAGES,
    *overview.PAGES,
    *owners.PAGES,
    *pauses.PAGES,
    *replays.PAGES,
    *runbooks.PAGES,
    *terms.PAGES,
)
