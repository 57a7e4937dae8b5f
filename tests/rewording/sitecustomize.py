"""Python imports this at its start, where ``pytest --reword`` put it in the way of the processes that tests start."""

import os

import reword

if seed := os.environ.get(reword.SEED):
    reword.install(seed)
