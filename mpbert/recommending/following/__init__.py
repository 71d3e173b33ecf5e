"""A library is followed: what is new, changed or gone in it comes into its index, or goes."""
