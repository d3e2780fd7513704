-- Two more events that an endpoint can select: a buyer's word on a receipt. The release before selects neither.
ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_events_known;
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_events_known CHECK (
    cardinality(events) > 0 AND events <@ ARRAY[
    'received_ecf', 'submission.accepted', 'submission.conditional', 'submission.rejected', 'submission.error',
    'sequence.low', 'sequence.expiring', 'certificate.expiring', 'recurring.preview', 'recurring.held',
    'authority.down', 'authority.up', 'buyer.approved', 'buyer.rejected'
    ]
);
