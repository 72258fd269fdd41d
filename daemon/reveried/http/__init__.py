"""HTTP/1.1 server of the daemon: admission, connection, messages, routing, calls and the OpenAPI description."""
