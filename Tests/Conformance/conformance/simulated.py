"""Criteria that take hours, many hosts or a querier: they are judged in simulation, by the tests named here."""

# Section, what is judged, and the test.
SIMULATED = []
