"""A small AppWorld world of our own: data, tasks with evaluators, scripted agents' replies."""
