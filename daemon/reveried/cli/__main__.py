"""`python -m reveried.cli` is the `reverie` command."""

import sys

from reveried.cli import main

sys.exit(main())
