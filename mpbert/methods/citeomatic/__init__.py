"""Citeomatic: Bhagavatula et al. (NAACL 2018)."""
