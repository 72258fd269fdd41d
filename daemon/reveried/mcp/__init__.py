"""`reverie mcp`: the tools of the daemon for a client of the Model Context Protocol, over standard input and output.

Only the standard library is imported before the first answer: a client may wait with its first prompt for that.
"""
