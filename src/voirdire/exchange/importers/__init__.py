"""Importers: exports of other tools as the long tables. One module a format; ``contract`` says what each one is."""
