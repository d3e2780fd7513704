-- Ranges that a sequence left by itself for its next one, the latest first: a program that sends the same POST /ncf at each
-- start does not set one of them again (docs/decisions/ranges-of-a-number.md).
ALTER TABLE sequences ADD COLUMN left_ranges former_range [] NOT NULL DEFAULT '{}';
