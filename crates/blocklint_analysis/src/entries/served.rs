//! Whether something that an event loop runs is seen to lead to a body.

use crate::link::Link;

impl<'a> Link<'a> {}
