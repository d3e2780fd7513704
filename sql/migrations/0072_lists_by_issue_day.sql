-- Lists of issued and received receipts by the day of issue that a receipt states.
CREATE INDEX submissions_by_issue_day ON submissions (tenant_id, issued_on, submission_id) WHERE issued_on IS NOT NULL;
CREATE INDEX received_by_issue_day ON received (tenant_id, issued_on, received_id);
