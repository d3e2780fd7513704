-- Reserved for another change of this release; goes when that is merged.
SELECT 1;
