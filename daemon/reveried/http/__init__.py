"""HTTP as the daemon speaks it: the connection, the call, the reply and the table of routes."""
