-- Kept free for changes that come at the same time.

SELECT 1;
