"""Matrix products on Hopper's tensor cores, through its copy engine and its warpgroups' product."""
