"""The API for suppliers, with a listener, limits and a database role of its own."""
