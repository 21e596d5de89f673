"""How good a translation is."""
