"""The settings of Sphinx. Nothing of a page comes from a network when it is looked at."""

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
# An example of a message with its arrow, or of a file that is cut short, is not correct text of its language.
suppress_warnings = ["misc.highlighting_failure"]
smartquotes = False  # what is quoted is often code
html_show_search_summary = False  # summaries are fetched, which a browser refuses for files of the disk
