"""YAML files that come with the package: rules, training and arena configurations."""
