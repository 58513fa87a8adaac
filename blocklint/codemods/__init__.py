"""Codemods on libcst: they mend a finding across files, or refuse with the reason and the place.

`blocklint codemod asyncify|offload` runs them. They need libcst: `pip install 'blocklint-async[codemods]'`.
"""

INSTALL = "codemods need libcst: pip install 'blocklint-async[codemods]'"
