"""Draws a schematic as SVG from a text that names its parts, where they are, and how its wires run: see Scripts/drawings."""
