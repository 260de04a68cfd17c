"""The ledger of measured runs, and tables of the papers' numbers beside ours."""
