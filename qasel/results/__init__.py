"""The ledger of measured runs; tables of our numbers beside the papers', and side by side."""
