"""How a use case runs in this process: snapshot here, decide in a child, commit by the writer, publish the files."""
