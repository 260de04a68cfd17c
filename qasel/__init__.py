"""qasel: notebooks and a small package for neural and structured answer selection."""
