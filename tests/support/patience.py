"""How long tests wait for what must happen."""

PATIENCE = 900.0  # seconds: what never comes fails the test all the same, on a busy machine, too
