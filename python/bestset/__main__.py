"""``python -m bestset``: the command ``bestset`` of this interpreter, where its folder of commands is not on the path."""

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())
