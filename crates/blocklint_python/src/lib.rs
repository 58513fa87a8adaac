//! blocklint_python
