//! A list of the program's own files: `os.listdir("plugins")`, `Path(__file__).parent.glob("*.py")`. There are few of them, it is asked
//! for when parts of the program are loaded, and a thread costs more.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall};

use super::callee::last_name;

const LISTS: &[&str] = &["listdir", "scandir", "iterdir", "glob", "iglob"];

/// True if a call lists a folder that the program brings along: only a text in the code shows where it lies.
pub(super) fn lists_own_files(call: &ExprCall) -> bool {
    if !last_name(&call.func).is_some_and(|name| LISTS.contains(&name)) {
        return false;
    }
    let mut written = Written { is_own: true, names_place: false };
    match &*call.func {
        // `os.listdir(…)`: what it hangs on is a module.
        Expr::Attribute(of) if !of.value.is_name_expr() => written.visit_expr(&of.value),
        Expr::Attribute(of) if call.arguments.is_empty() => written.visit_expr(&of.value),
        _ => {}
    }
    for argument in call.arguments.iter_source_order() {
        written.visit_expr(argument.value());
    }
    written.is_own && written.names_place
}

struct Written {
    is_own: bool,
    names_place: bool,
}

impl<'a> SourceOrderVisitor<'a> for Written {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::StringLiteral(text) => {
                let text = text.value.to_str();
                self.is_own &= !text.starts_with(['/', '~', '\\']) && !text.contains(':');
                self.names_place = true;
            }
            Expr::Name(name) if name.id == "__file__" => self.names_place = true,
            Expr::Name(_) => self.is_own = false,
            // The called function and its module tell nothing of the place.
            Expr::Call(call) => {
                if let Expr::Attribute(of) = &*call.func
                    && !is_module(&of.value)
                {
                    self.visit_expr(&of.value);
                }
                for argument in call.arguments.iter_source_order() {
                    self.visit_expr(argument.value());
                }
            }
            _ => walk_expr(self, expression),
        }
    }
}

/// `os`, `os.path`
fn is_module(expression: &Expr) -> bool {
    match expression {
        Expr::Name(name) => name.id != "__file__",
        Expr::Attribute(of) => is_module(&of.value),
        _ => false,
    }
}
