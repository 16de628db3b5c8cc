"""The public calls, one for each command. Arguments are converted here, and results show themselves."""
