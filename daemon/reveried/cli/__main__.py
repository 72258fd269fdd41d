"""Entry point of `python -m reveried.cli`, the same command as `reverie`."""

import sys

from reveried.cli import main

sys.exit(main())
