"""What the reading room shows, as data: items with what people and judges said of them, runs, profiles."""
