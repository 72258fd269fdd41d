"""The folders of the spaces: looked at, taken in, written to, and watched."""

from reveried.sync_service.folders import Folders

__all__ = ["Folders"]
