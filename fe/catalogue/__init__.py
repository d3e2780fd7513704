"""A tenant's customers and products: models checked at the edge, search words, CSV, and what receipts teach. Pure."""
