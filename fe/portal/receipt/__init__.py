"""The form of a receipt: the fields of a type, the entered values, and the resulting document."""
