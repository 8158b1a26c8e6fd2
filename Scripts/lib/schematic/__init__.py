"""Draws a schematic as SVG from a text that lists its parts, their places and its wires: see Scripts/drawings."""
