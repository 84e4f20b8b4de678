"""Images of a corpus: asked for, kept, checked and shown, under the same parameters for all members of a pair."""
