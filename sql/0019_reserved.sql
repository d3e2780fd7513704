-- Reserved: this number is another change's.
SELECT 1;
