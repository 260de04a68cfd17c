"""The house style and every figure."""
