"""Launches of other programs, explained: seen in a running program, or read from a dump."""
