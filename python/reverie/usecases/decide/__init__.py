"""Decisions: from a snapshot to a plan, pure; run in a process of their own, so that the daemon never loads them."""
