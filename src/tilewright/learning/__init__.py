"""The course: lessons of rungs, the tour of a ladder, exercises and how they are graded."""
