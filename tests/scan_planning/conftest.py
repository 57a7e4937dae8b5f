"""Planning is tested with the schemas, predicates and rows of the tests of expressions."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "expressions"))
