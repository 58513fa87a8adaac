//! The renderers.

mod render;
mod support;
