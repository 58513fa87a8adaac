//! blocklint_rules
