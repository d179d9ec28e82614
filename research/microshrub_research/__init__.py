"""Research: comparisons, benchmarks and papers' experiments. Private: it has commands only."""
