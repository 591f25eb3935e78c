"""The commands of `prial`, one room a subject."""
