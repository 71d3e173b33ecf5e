"""DualLCR: a semantic module over texts, and a bibliographic one over authors and citations.

Medić and Šnajder, Improved Local Citation Recommendation Based on Context Enhanced with Global
Information (SDP 2020).
"""
