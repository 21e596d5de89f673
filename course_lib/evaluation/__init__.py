"""How good a translation is, and what the weights say that it came from."""
