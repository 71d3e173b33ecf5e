"""The systems of the report, one folder each; what stands here itself is what they share.

Importing a folder registers its members. The registries import all folders, so that a new method
is one more folder.
"""
