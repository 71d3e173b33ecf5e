"""DACR, a reconstruction: Zhang & Ma (2020)."""
