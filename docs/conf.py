"""Settings of Sphinx, for `./invoke docs` (stacks/project/documentation.py)."""

project = "theano-stacks"
html_title = project
language = "en"
extensions = ["myst_parser"]
myst_heading_anchors = 6
nitpicky = True
# Two dashes begin an option.
smartquotes = False
# Blocks that name no language are shown as they are.
highlight_language = "none"
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
