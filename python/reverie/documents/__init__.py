"""Memory documents: parse a markdown text into items, and turn changes of items into the smallest edits of it."""
