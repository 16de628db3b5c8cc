"""The documentation's site: what MkDocs does not do by itself. `make docs` builds it."""
