"""VERIFY_BEFORE_WRITE: the gate that stops a state-changing call once, before it executes."""
