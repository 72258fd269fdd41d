"""The page docs/configuration.md, written from the table of settings: `python -m reveried.config_reference`."""

from __future__ import annotations

import json
import sys

from reveried.config_keys import KEYS

__all__ = ["page"]

HEAD = """# Configuration

Reverie works without a configuration file. What you set goes into `~/.config/reverie/config.toml`
(`reverie config path` prints where it is), and an environment variable of the name below overrides it.
A key that does not exist is an error that names the nearest one; `reverie config validate` checks the file.

```toml
[memory]
dataDir = "~/Notes/reverie"

[context]
window = 1000000
```

`REVERIE_HOME` moves configuration, data, state and socket under one folder.

| Key | Default | What it is | Values | Environment |
|---|---|---|---|---|
"""


def page() -> str:
    """The page as it should stand in docs/configuration.md."""
    rows = (
        f"| `{key.name}` | `{json.dumps(key.default)}` | {key.says} | {key.expected} | `{key.environment}` |"
        for key in KEYS
    )
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
