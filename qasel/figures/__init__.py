"""The house style, charts and diagrams that papers share, and the figures that compare systems."""
