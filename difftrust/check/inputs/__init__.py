"""Which inputs a check counts: those inside the domain that nothing keeps in doubt, and those sought beside them."""
