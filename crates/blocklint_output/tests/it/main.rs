//! Tests of the renderers.

mod render;
mod support;
