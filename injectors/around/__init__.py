"""The gate and the cards around an agent of one's own: plain functions and tool-call loops."""
