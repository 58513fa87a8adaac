"""Codemods with libcst that fix a finding across files, or refuse with a reason and a place.

`blocklint codemod asyncify|offload` runs them. They need libcst: `pip install 'blocklint-async[codemods]'`.
"""

INSTALL = "codemods need libcst: pip install 'blocklint-async[codemods]'"
