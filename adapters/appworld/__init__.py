"""AppWorld: code-writing agents over the APIs of everyday apps."""
