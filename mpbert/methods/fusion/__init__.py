"""Fusion of several rankings into one."""
