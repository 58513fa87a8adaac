//! Listings of the program's own folders: `os.listdir("plugins")`, `Path(__file__).parent.glob("*.py")`. Such a folder
//! is small, and a thread costs more than the call.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall};

use super::callee::last_name;

const LISTING_FUNCTIONS: &[&str] = &["listdir", "scandir", "iterdir", "glob", "iglob"];

/// True if a call lists a folder of the program: its path is written with relative strings and `__file__` only.
pub(super) fn lists_own_files(call: &ExprCall) -> bool {
    if !last_name(&call.func).is_some_and(|name| LISTING_FUNCTIONS.contains(&name)) {
        return false;
    }
    let mut path = PathParts { is_own: true, has_location: false };
    match &*call.func {
        // The receiver of `os.listdir(…)` is a module.
        Expr::Attribute(attribute) if !attribute.value.is_name_expr() => path.visit_expr(&attribute.value),
        Expr::Attribute(attribute) if call.arguments.is_empty() => path.visit_expr(&attribute.value),
        _ => {}
    }
    for argument in call.arguments.iter_source_order() {
        path.visit_expr(argument.value());
    }
    path.is_own && path.has_location
}

struct PathParts {
    /// True unless a part is absolute or comes from a variable.
    is_own: bool,
    /// True if a part is a string or `__file__`.
    has_location: bool,
}

impl<'a> SourceOrderVisitor<'a> for PathParts {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::StringLiteral(text) => {
                let text = text.value.to_str();
                self.is_own &= !text.starts_with(['/', '~', '\\']) && !text.contains(':');
                self.has_location = true;
            }
            Expr::Name(name) if name.id == "__file__" => self.has_location = true,
            Expr::Name(_) => self.is_own = false,
            // The called function and its module are no part of the path.
            Expr::Call(call) => {
                if let Expr::Attribute(attribute) = &*call.func
                    && !is_module(&attribute.value)
                {
                    self.visit_expr(&attribute.value);
                }
                for argument in call.arguments.iter_source_order() {
                    self.visit_expr(argument.value());
                }
            }
            _ => walk_expr(self, expression),
        }
    }
}

/// True for `os` and `os.path`.
fn is_module(expression: &Expr) -> bool {
    match expression {
        Expr::Name(name) => name.id != "__file__",
        Expr::Attribute(attribute) => is_module(&attribute.value),
        _ => false,
    }
}
