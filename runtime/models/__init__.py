"""Chat models: OpenAI-compatible endpoints, scripted turns, recorded replies."""
