"""The version. It stands in the code, so that a source tree that nobody installed knows it, too."""

VERSION = "0.1.0"
