-- Kept for a change that is made at the same time.
SELECT 1;
