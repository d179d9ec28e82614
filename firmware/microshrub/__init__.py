"""Online learning on microcontrollers, sample by sample, in bytes that are known beforehand."""

from .ensemble import ShrubEnsemble
from .metrics import Metrics
from .quantizer import MISSING, RAW_MAX, Quantizer

__version__ = "0.1.0"
__all__ = ("MISSING", "RAW_MAX", "Metrics", "Quantizer", "ShrubEnsemble")
