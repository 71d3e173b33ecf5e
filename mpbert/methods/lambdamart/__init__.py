"""LambdaMART: trees rank anew what a fusion of several rankings has put first.

Burges, From RankNet to LambdaRank to LambdaMART: An Overview (MSR-TR-2010-82), by LightGBM, Ke et
al. (NIPS 2017).
"""
