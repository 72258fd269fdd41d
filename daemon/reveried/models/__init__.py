"""Transports that send requests to a language model: a program, a folder of files, a provider's API."""
