"""Data sets: real ones, the bundled sample and a user's own files, read into `Dataset`."""
