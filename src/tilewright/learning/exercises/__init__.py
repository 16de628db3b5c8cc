"""Exercises: a rung with its idea cut out, or a faulty kernel, and the counts that a solution must reach."""
