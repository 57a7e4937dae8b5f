"""The bucket of the object stores on loopback, and the variables with which clients reach them."""

from __future__ import annotations

BUCKET = "lake"


def store_environment(endpoint: str) -> dict[str, str]:
    """Return the environment variables with which clients reach a store at a URL."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
