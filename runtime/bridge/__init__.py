"""The boundary between agent code and a world: frames, processes, lock-down, forwarding."""
