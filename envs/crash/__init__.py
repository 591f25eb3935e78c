"""Crash, 13-card Brag: rules, exact combinatorics, the game, and its environments."""
