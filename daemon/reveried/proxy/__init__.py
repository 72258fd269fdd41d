"""A proxy on the loopback interface between a client and its provider: it answers compactions and caps contexts.

It is a process of its own. What it does not answer itself it passes on byte for byte, and its answers too; any trouble
with what it does of its own leads to that.
"""
