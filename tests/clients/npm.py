"""Packages of npm for a test, in a temporary folder."""

import shutil
import subprocess
from pathlib import Path

import pytest


def install(folder: Path, *command: str) -> None:
    """Run npm there without scripts of packages. Skips, loudly, where there is no node, npm or registry."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("NOT PROVED HERE: there is no node or no npm")
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline")
    try:
        ended = subprocess.run(["npm", *command, *quiet], cwd=folder, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        pytest.skip("NOT PROVED HERE: the registry of npm did not answer in time")
    if ended.returncode:
        pytest.skip(f"NOT PROVED HERE: npm could not install: {ended.stderr.strip().splitlines()[-1]}")
