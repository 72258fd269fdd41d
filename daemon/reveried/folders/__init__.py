"""The folders of the spaces: looked at, taken in, written to, and watched."""

from reveried.folders.folders import Folders

__all__ = ["Folders"]
