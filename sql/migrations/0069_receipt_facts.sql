-- Facts of a signed receipt that its issuer prints and lists show; NULL: signed before this migration, or not signed.
ALTER TABLE submissions
ADD COLUMN total numeric(18, 2),
ADD COLUMN itbis numeric(18, 2),
ADD COLUMN buyer_name text,
ADD COLUMN issued_on date;
