# Wraps and unwraps a key: the same for both.
tr A-Za-z N-ZA-Mn-za-m
