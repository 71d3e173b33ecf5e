"""Manuscripts in the making: TeX, Markdown, text or JSON with places where papers belong."""
