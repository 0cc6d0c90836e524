"""Tests of recipes/theano-stacks and recipes/theano-stacks-scan where there is no Theano."""
