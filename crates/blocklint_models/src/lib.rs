//! blocklint_models
