"""Explorers: small interactive views for the notebooks."""
