"""The daemon that keeps the thread, and the `reverie` command."""
