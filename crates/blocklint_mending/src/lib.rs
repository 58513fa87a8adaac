//! The code that an edit of a finding would move, and the reasons against it: the thread, loop or task to which that code belongs
//! (`thread_bound`, `with_blocks`), the result of the call and the uses of that result which would still block this thread (`given`, `left_behind`), the async twins and rewrites that
//! models name (`row_advice`), Rust's helpers that become `async` together (`async_chain`, `find_chain`), the answers that Python's codemods
//! are built on (`rewriting`), and code that runs by hand only (`by_hand`).
//!
//! Asked for findings that have an edit, forward from one call. Labels cannot show this, because they record only that
//! a call blocks. The text of an edit is made by the front ends.

mod async_chain;
mod by_hand;
mod call_result;
mod find_chain;
mod left_behind;
pub mod rewriting;
mod row_advice;
mod thread_bound;
mod with_blocks;

pub use async_chain::{Chain, ChainHelper, ChainSink, NoChain, Unchained};
pub use by_hand::{is_cheaper_than_thread, reason_no_edit, starts_up};
pub use call_result::{ResultKind, result_blocks, result_kind};
pub use find_chain::Chains;
pub use left_behind::{beside, opener_of, uses_left_behind};
pub use row_advice::{AsyncTwin, RowAdvice, row_advice, twins};
pub use thread_bound::{MovedCode, blocks_with, body_with, bound_beside, moved_with};
pub use with_blocks::moving_with;
