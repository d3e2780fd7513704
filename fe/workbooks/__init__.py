"""Receipts in workbooks: templates, a bounded reader of XLSX, ODS and CSV, and a copy with the errors of each row."""
