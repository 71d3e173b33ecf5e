"""HAtten: Gu et al. (ECIR 2022)."""
