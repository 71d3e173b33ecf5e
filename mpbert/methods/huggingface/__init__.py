"""Any encoder of Hugging Face, such as SciBERT, as it is or fine-tuned on augmented abstracts.

What MP-BERT4CR (Zhang and Ma, WI-IAT 2021) compares itself with; Beltagy et al., SciBERT (EMNLP
2019), and Cohan et al., SPECTER (ACL 2020).
"""
