"""What is shown of a run: tables and, later, statistics and pages."""
