"""How a cluster of Citus is set up, for operators (README.md) and, by the same files, for tests and benchmarks."""
