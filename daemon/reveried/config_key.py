"""One setting of the file: its name, type, bounds and default, the check of a value, and the error of a wrong one."""

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from msgspec import Meta

from reverie.decoding import convert
from reverie.errors import ValidationError

__all__ = ["ANYWHERE", "Key"]

ANYWHERE = "the configuration"


@dataclass(frozen=True, slots=True)
class Key:
    """One setting of the file, derived from a field of its section; `default` is "" for an unset path."""

    name: str
    section: str
    field: str
    type: Any
    meta: Meta
    default: Any
    description: str

    def checked(self, value: Any, where: str = ANYWHERE) -> Any:
        """Return `value` as the type that the program uses; `where` it was set goes into the error.

        A path stays a text here: only `reveried.config` knows the home folder.

        Raises:
            ValidationError: the wrong type, or out of bounds; says what to write.
        """
        try:
            checked = convert(value, Annotated[self.type, self.meta])
        except (ValueError, OverflowError):
            # msgspec's ValidationError, or what it raises for undecodable bytes in a variable (UnicodeEncodeError).
            # Not chained: its message repeats the value, which may be a secret.
            raise self.refused(f"it must be {self.expected}", where) from None
        texts = checked if isinstance(checked, tuple) else (checked,)
        if not all(text.isprintable() for text in texts if isinstance(text, str)):
            raise self.refused(f"it must be {self.expected}", where)
        return checked

    def from_text(self, text: str, where: str = ANYWHERE) -> Any:
        """Return the value of an environment variable; a list is JSON.

        Raises:
            ValidationError: as `checked`.
        """
        value: Any = text
        try:
            if self.type is int:
                value = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
            elif self.type is float:
                value = float(text)
            elif get_origin(self.type) is tuple:
                value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        return self.checked(value, where)

    @property
    def expected(self) -> str:
        """The allowed values in words: `a whole number of 1 to 1000`."""
        if self.type is int:
            return f"a whole number of {_plain(self.meta.ge)} to {_plain(self.meta.le)}"
        if self.type is float and self.meta.gt is not None:
            return "a number above 0 and up to 1"
        if self.type is float:
            return f"a number of {_plain(self.meta.ge)} to {_plain(self.meta.le)}"
        if get_origin(self.type) is tuple:
            return "a list of texts, none empty"
        if get_origin(self.type) is Literal:
            return "one of " + ", ".join(get_args(self.type))
        return str((self.meta.extra or {}).get("expected", "a text without control characters"))

    @property
    def environment(self) -> str:
        """The environment variable that overrides it; the socket's has a short name, which clients read too."""
        if self.name == "daemon.socket":
            return "REVERIE_SOCKET"
        return f"REVERIE_{self.section.upper()}_{self.field.upper()}"

    def refused(self, why: str, where: str = ANYWHERE) -> ValidationError:
        """Return the error for a wrong value of this key; it never shows the value."""
        return ValidationError(
            f"{self.name} in {where}: {why}.",
            hint=f"Give {self.expected}; the default is {json.dumps(self.default)}. {self.description}",
            key=self.name,
        )


def _plain(number: float | None) -> str:
    """Format a bound as people write it: 10000000 and 0.05, never 1e+07."""
    assert number is not None
    return str(int(number)) if number == int(number) else str(number)
