"""``iceberg-conformance completion``."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from conformance.cli import make_app
from conformance.core.failures import ExitStatus, HarnessFault


def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(name="SHELL")], /) -> int:
    """Print the completion script for a shell; save it in the shell's folder of completion scripts.

    Args:
        shell: bash, zsh or fish.
    """
    script = make_app().generate_completion(shell=shell)
    sys.stdout.write(_with_names(script) if shell == "bash" else script)
    return ExitStatus.CONFORMANT


_MADE = "complete -F _iceberg_conformance iceberg-conformance\n"
"""The end of the script that Cyclopts generates."""

_BASH = """
# Names of suites, adapters, requirements, checks and vectors are listed by the tool itself.
_iceberg_conformance_names() {
  local kind
  for kind in "$@"; do
    iceberg-conformance list "$kind" 2>/dev/null
  done | cut -d ' ' -f 1
}

_iceberg_conformance_with_names() {
  local cur="${COMP_WORDS[COMP_CWORD]}" kinds=""
  case "${COMP_WORDS[COMP_CWORD-1]}" in
    --suite) kinds="suites" ;;
    --adapter | -a | --producer | --consumer | --reader) kinds="adapters" ;;
    --requirement) kinds="requirements" ;;
    --select | --ignore) kinds="checks requirements" ;;
    explain) kinds="requirements checks vectors" ;;
    replay) kinds="vectors" ;;
  esac
  if [[ -n "$kinds" && "$cur" != */* ]]; then
    COMPREPLY=( $(compgen -W "$(_iceberg_conformance_names $kinds)" -- "$cur") )
  else
    _iceberg_conformance
  fi
}

# Where nothing is offered, file names are; -o filenames ends directories with a slash and quotes blanks.
complete -o filenames -o default -F _iceberg_conformance_with_names iceberg-conformance
"""


def _with_names(script: str) -> str:
    """Add names that only the tool knows, and paths as bash completes them, to the script for bash.

    Raises:
        HarnessFault: the script that Cyclopts generates does not end as expected.
    """
    if not script.endswith(_MADE):
        raise HarnessFault("the script for bash does not end as expected")
    return script.removesuffix(_MADE) + _BASH.lstrip("\n")
