//! What one file says, before any other file is known.
