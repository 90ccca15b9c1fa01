"""Policies: the interface, the rule-based ladder, and learned policies. They see Views, never records."""
