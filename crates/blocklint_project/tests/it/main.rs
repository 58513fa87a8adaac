//! Tests of the input of a run.

mod discovery;
