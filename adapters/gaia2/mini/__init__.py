"""Twenty small scenarios with scripted checks and personas: GAIA2 without a download."""
