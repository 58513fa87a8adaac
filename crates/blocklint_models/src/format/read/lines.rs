//! The conversion of offsets to line numbers.

/// The offsets of the line ends of a text.
pub(super) struct LineEnds {
    ends: Vec<usize>,
}

impl LineEnds {
    pub(super) fn new(text: &str) -> Self {
        LineEnds {
            ends: text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset).collect(),
        }
    }

    /// Returns the line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        self.ends.partition_point(|end| *end < offset) as u32 + 1
    }
}
