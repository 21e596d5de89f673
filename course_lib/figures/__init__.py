"""Pictures for print and page: matplotlib Figures, each with a text that says what it shows."""
