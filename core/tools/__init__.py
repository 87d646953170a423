"""The tools a model (or a person with `call`) can use."""
