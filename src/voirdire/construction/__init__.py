"""How a corpus comes to be: concepts, authoring, checks, images, splits."""
