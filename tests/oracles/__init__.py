"""Independent, slow and simple versions of the rules, to test the engine against.

Nothing here imports the engine. Cards are two-character strings such as "As" and "Td".
"""
