"""The results as tables in Markdown and as a web page."""
