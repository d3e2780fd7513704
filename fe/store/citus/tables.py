"""Which tables are spread over the nodes of a Citus cluster; the others stay on the coordinator."""

#: By tenant, all of a tenant on one node: what a document is written in on its way, and what grows with documents.
DISTRIBUTED = (
    "submissions",
    "submission_documents",
    "submission_events",
    "sends",
    "client_requests",
    "outbox",
    "dead_letters",
    "held_numbers",
    "sequences",
    "returned_numbers",
    "usage_ends",
    "usage_carried",
    "usage_days",
    "usage_latency",
    "usage_marks",
    "billing_terms",
    "billing_months",
    "received",
    "acknowledgements",
    "received_approvals",
    "approvals",
    "customers",
    "products",
)
