//! blocklint_analysis
