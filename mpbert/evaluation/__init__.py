"""From runs and relevance judgements to measures, tests and one report; runs without torch."""
