"""What developers run by hand; no part of the package."""
