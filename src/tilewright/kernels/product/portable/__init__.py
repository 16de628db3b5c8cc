"""Matrix products for any GPU in plain OpenCL C: the production end of the ladder `tiles`."""
