"""``python -m mpbert COMMAND``."""

from mpbert.cli import main

raise SystemExit(main())
