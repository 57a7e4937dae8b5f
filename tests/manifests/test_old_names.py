"""Old names of public functions, which work for one release."""

from __future__ import annotations

import pytest

from spec_ref import manifests


def test_the_old_name_of_a_function_works_and_warns() -> None:
    with pytest.warns(DeprecationWarning, match="use build_manifest_file"):
        assert manifests.manifest_file is manifests.build_manifest_file
    with pytest.raises(AttributeError, match="no attribute 'describe'"):
        _ = manifests.describe
