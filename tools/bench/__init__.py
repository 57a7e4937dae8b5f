"""Every claim about speed, measured beside a peer on one machine in one go: ``python -m tools.bench``.

A module for each path. Ours and the peer take turns, round by round, so that a machine that slows down slows both;
what is compared is the median of the rounds' ratios. Nothing is kept between rounds, and peers run in their own
environments.
"""

from __future__ import annotations

from tools.posix import require_posix

require_posix("tools.bench")
