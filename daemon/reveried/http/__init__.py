"""HTTP/1.1 server of the daemon: admission, connection, response, routing, calls and the OpenAPI description."""
