"""`prial bench`: how fast things are, each section a module with one function that measures it."""
