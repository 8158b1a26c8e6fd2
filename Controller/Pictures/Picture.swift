import CRSVG
