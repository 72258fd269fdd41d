"""The former name of `reverie.tokenizer`, by which programs outside still import `count`."""

from reverie.tokenizer import count

__all__ = ["count"]
