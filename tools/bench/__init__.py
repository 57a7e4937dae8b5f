"""Every claim about speed, measured beside a peer on one machine in one run: ``python -m tools.bench``.

There is a module for each path. Our code and the peer take turns, round by round, so that a machine that slows down
slows both; the median of the rounds' ratios is compared with the goal. Nothing is kept between rounds, and peers run in
separate environments.
"""

from __future__ import annotations

from tools.posix import require_posix

require_posix("tools.bench")
