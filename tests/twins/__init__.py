"""Slow, plain Python twins of the kernels: the same results by the definition, without tricks."""
