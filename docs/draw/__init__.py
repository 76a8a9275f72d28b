"""Draws plots, diagrams and the pictures of the README."""
