"""The fault suite: the whole service as processes, broken on purpose, and one checker that judges what is left."""
