"""Translating the texts of a corpus: proposals of a model, checks, back-translations, and a person's verification."""
