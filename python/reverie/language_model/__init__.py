"""Language models as pure functions: requests from values, values from answers. Sending is the daemon's."""
