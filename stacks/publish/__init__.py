"""The timings as a table in Markdown and as a page."""
