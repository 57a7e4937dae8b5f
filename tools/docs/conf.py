"""The settings of Sphinx. Pages load nothing from the network."""

project = "Iceberg conformance"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints = "signature"
nitpick_ignore_regex = [("py:.*", ".*")]  # types of other modules have no pages
html_theme = "furo"
templates_path = ["theme"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_title = "Iceberg conformance"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
language = "en"
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]
# Examples of messages with an arrow, or of truncated files, are not valid in their language.
suppress_warnings = ["misc.highlighting_failure"]
smartquotes = False  # quoted text is often code
html_show_search_summary = False  # fetches page summaries, which browsers refuse for local files
