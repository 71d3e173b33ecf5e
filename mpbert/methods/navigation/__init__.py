"""Candidates by navigation: what the first papers cite."""
