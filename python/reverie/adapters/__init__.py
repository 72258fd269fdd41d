"""Interfaces of other agent frameworks over `AsyncClient` and `Client`, one module and one optional extra for each.

No module imports its framework before it is used.
"""
