//! The code that the fix of a finding would move, and the reasons against moving it:
//!
//! - `thread_bound`, `with_blocks`: the thread, loop or task to which the code belongs.
//! - `call_result`, `left_behind`: the result of the call, and blocking uses of it that the fix would leave behind.
//! - `row_advice`: the async twins and rewrites in model rows.
//! - `async_chain`, `find_chain`: helpers that become `async` together (Rust).
//! - `by_hand`: code that a person runs, where a fix is of no use.
//! - `rewriting`: answers for codemods (Python).
//!
//! Each analysis goes forward from one call, and runs only for findings that may get a fix. Labels do not have this
//! information, because they record only that a call blocks. The front ends write the text of fixes.

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
pub use by_hand::{is_cheaper_than_thread, is_startup_coroutine, reason_no_edit};
pub use call_result::{ResultKind, result_blocks, result_kind};
pub use find_chain::Chains;
pub use left_behind::{blocking_uses_of_result, calls_on_same_file, opener_of};
pub use row_advice::{AsyncTwin, RowAdvice, async_twins, row_advice};
pub use thread_bound::{
    MovedCode, blocks_with_moved_code, bound_call_in_method, code_moved_with_body, code_moved_with_call,
};
pub use with_blocks::blocks_that_can_move;
