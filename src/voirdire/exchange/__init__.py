"""A corpus in the forms of other tools: releases, and back."""
