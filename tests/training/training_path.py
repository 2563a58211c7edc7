"""Puts the training code on the import path."""

import sys
from pathlib import Path

TRAINING = Path(__file__).resolve().parents[2] / "engine" / "training"
sys.path.insert(0, str(TRAINING))
