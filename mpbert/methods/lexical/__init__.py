"""Lexical methods, BM25 and TF-IDF: papers and queries as weighted words, without vectors.

A module here is a method; Robertson and Zaragoza (FnTIR 2009), and Manning, Raghavan and Schütze
(2008).
"""
