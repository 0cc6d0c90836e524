"""Profiles of workloads, and their comparison."""
