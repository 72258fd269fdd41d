"""Async entry points that routes, agent tools and the scheduler share: each runs use cases of the library."""
