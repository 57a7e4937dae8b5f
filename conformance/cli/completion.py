"""``iceberg-conformance completion``."""

from __future__ import annotations

import re
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
    finish = {"bash": _with_names, "zsh": _with_files}.get(shell)
    sys.stdout.write(finish(script) if finish else script)
    return ExitStatus.CONFORMANT


_MADE = "complete -F _iceberg_conformance iceberg-conformance\n"
"""The end of the script that Cyclopts generates."""

_FILES = 'COMPREPLY=( $(compgen -f -- "${cur}") )'
"""The part of that script that lists files; it splits names at blanks."""

_BASH = """
# Names of suites, adapters, engines, requirements, checks and vectors are listed by the tool itself.
_iceberg_conformance_names() {
  local kind
  for kind in "$@"; do
    iceberg-conformance list "$kind" 2>/dev/null
  done | cut -d ' ' -f 1
}

_iceberg_conformance_with_names() {
  local i=$COMP_CWORD cur="${COMP_WORDS[COMP_CWORD]}" option names="" kinds=""
  # bash splits words at colons and equals signs: reference:plain, --adapter=pyiceberg.
  while [[ $i -gt 1 && ( "${COMP_WORDS[i]}" == : || "${COMP_WORDS[i-1]}" == : ) ]]; do
    i=$((i - 1))
    cur="${COMP_WORDS[i]}$cur"
  done
  option="${COMP_WORDS[i-1]}"
  if [[ "$cur" == = ]]; then
    cur=""
  elif [[ "$option" == = ]]; then
    option="${COMP_WORDS[i-2]}"
  fi
  case "$option" in
    --suite) kinds="suites" ;;
    --adapter | -a | --producer | --consumer | --reader | --second-reader) kinds="adapters" ;;
    --requirement) kinds="requirements" ;;
    --select | --ignore) kinds="checks requirements" ;;
    --expect) names="known-deviations" ;;
    explain) kinds="requirements checks vectors" ;;
    replay) kinds="vectors" ;;
  esac
  if [[ "${COMP_WORDS[1]} ${COMP_WORDS[2]}" == "engines install" && $COMP_CWORD -gt 2 && "$cur" != -* ]]; then
    kinds="engines"
  fi
  if [[ "$cur" == */* || "$cur" == -* || -z "$kinds$names" ]]; then
    _iceberg_conformance
    return
  fi
  [[ -z "$kinds" ]] || names="$(_iceberg_conformance_names $kinds)"
  COMPREPLY=( $(compgen -W "$names" -- "$cur") )
  if [[ "$cur" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
    COMPREPLY=( "${COMPREPLY[@]#"${cur%:*}:"}" )  # bash keeps the word before the colon
  fi
}

# Without other completions, file names are offered; -o filenames ends directories with a slash and quotes blanks.
complete -o filenames -o default -F _iceberg_conformance_with_names iceberg-conformance
"""


def _with_names(script: str) -> str:
    """Add names that only the tool knows, and paths as bash completes them, to the script for bash.

    Raises:
        HarnessFault: the script that Cyclopts generates is not as expected.
    """
    if not script.endswith(_MADE) or _FILES not in script:
        raise HarnessFault("the script for bash is not as expected")
    return script.removesuffix(_MADE).replace(_FILES, "COMPREPLY=()") + _BASH.lstrip("\n")


_ZSH_FUNCTION = "_cyclopts_iceberg-conformance"
"""The function that Cyclopts generates. zsh calls it only if the file of the script has the same name."""

_ZSH_POSITIONAL = re.compile(r"""^( +'(?:\*|\d+):(?:[^:'\\]|\\.)*)'(?= \\$)""", re.MULTILINE)
"""A positional argument for which that script offers no completions."""


def _with_files(script: str) -> str:
    """Name the function of the script for zsh as the documented file, and complete arguments with file names.

    Raises:
        HarnessFault: the script that Cyclopts generates is not as expected.
    """
    if f"{_ZSH_FUNCTION}() {{" not in script or not _ZSH_POSITIONAL.search(script):
        raise HarnessFault("the script for zsh is not as expected")
    return _ZSH_POSITIONAL.sub(r"\1:_files'", script).replace(_ZSH_FUNCTION, "_iceberg-conformance")
