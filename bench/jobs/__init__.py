"""The jobs: a module for each workflow. Importing them tells `bench.ceremony` of each."""
