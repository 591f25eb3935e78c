"""Everything that makes or measures agents: learners, the arena, export, and the command line."""
