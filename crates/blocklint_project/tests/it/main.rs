//! What a run looks at.

mod discovery;
