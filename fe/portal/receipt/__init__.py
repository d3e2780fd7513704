"""The form of a receipt: which fields a type has, what was typed into them, and the document that it says."""
