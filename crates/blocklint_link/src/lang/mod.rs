//! Language semantics: the trait [`Semantics`] has one method for each question that the linker asks a language (name
//! lookup, members, call results, implicit calls). Each language implements the trait in a folder of its own. The names
//! of methods and types that change the meaning of code are in [`words`].
//!
//! A new mechanism of a language (a kind of member, a condition) is a method of [`Semantics`] with a default,
//! overridden by the languages that have it. Syntax is not here: the front ends turn it into facts.

pub mod implicit;
pub mod java;
pub mod python;
pub mod rust;
pub mod words;

use std::ops::ControlFlow;

use blocklint_core::{Language, Runtime};
use blocklint_facts::{Assign, AssignKind, DisplayKind, FileFacts, Form, FormId, ImportId, RegionId, Sym, VarId};
use rustc_hash::FxHashMap;

use crate::calls::targets::Targets;
use crate::guards::loop_multiplier::Rounds;
use crate::lang::implicit::ImplicitCall;
use crate::lang::words::LanguageWords;
use crate::linker::{Linker, Typed};
use crate::models::row_match::ConditionResult;
use crate::program::Program;
use crate::program::ids::{BodyRef, ClassRef, FileId, Name, PathId, SiteRef, VarRef};
use crate::values::expr::Scope;
use crate::values::value::{ArgsId, BoundId, EnvId, Val, Why};

/// The questions about names, values and calls that each language answers differently. The first methods have no
/// default. The defaults of the others add nothing, because most languages need only a few of these methods.
pub(crate) trait Semantics: Sync {
    /// Returns the names of methods, types and exceptions that have a meaning in the language.
    fn words(&self) -> &'static LanguageWords;

    // Names.

    /// Returns the value of a name that its file does not bind: a builtin, a name of the prelude, a class of the
    /// package.
    fn unbound_name(&self, linker: &Linker<'_>, scope: Scope, sym: Sym) -> Typed;

    /// Returns the value that an import binds.
    fn import(&self, linker: &Linker<'_>, file: FileId, import: ImportId) -> Typed;

    /// Returns the callee of a call.
    fn callee(&self, linker: &Linker<'_>, scope: Scope, site: SiteRef) -> Typed;

    /// True if a call can pass its arguments to a callee; otherwise it fails before the callee runs.
    fn can_take_arguments(&self, _linker: &Linker<'_>, _callee: Val, _site: SiteRef) -> bool {
        true
    }

    /// Returns the callees of a call that the use of its result does not rule out.
    fn callees_that_fit_use(&self, _linker: &Linker<'_>, callee: Typed, _site: SiteRef, _env: EnvId) -> Typed {
        callee
    }

    /// Returns the module, crate path or package of a file.
    fn module_name(&self, linker: &Linker<'_>, file: FileId) -> String;

    /// Returns the member that one segment of a path refers to: `Store::open`, `Store::new` as a method reference.
    fn path_member(&self, linker: &Linker<'_>, owner: Val, name: Name) -> Typed;

    /// Returns a member of a module.
    fn module_member(&self, linker: &Linker<'_>, _module: FileId, _name: Name) -> Typed {
        linker.unknown(Why::Attribute)
    }

    // Members.

    /// Returns a member of an instance of a project's class; `own` is the member that its class and fields define.
    fn member_of_instance(&self, _linker: &Linker<'_>, _instance: Val, _name: Name, own: Typed) -> Typed {
        own
    }

    /// Returns a member of a class object; `own` is the member that the class defines.
    fn member_of_class(&self, _linker: &Linker<'_>, _class: ClassRef, _name: Name, own: Typed) -> Typed {
        own
    }

    /// Returns a member of a class object that the language defines for all classes: `Outer.this`.
    fn implied_member_of_class(
        &self,
        _linker: &Linker<'_>,
        _class: ClassRef,
        _name: Name,
        _receiver: Val,
    ) -> Option<Typed> {
        None
    }

    /// Returns a member that all functions have.
    fn member_of_function(&self, _linker: &Linker<'_>, _function: Val, _name: Name) -> Option<Typed> {
        None
    }

    /// Returns a member that a library's type has by a trait, if no row describes the member.
    fn member_of_library(&self, _linker: &Linker<'_>, _instance: Val, _name: Name) -> Option<Typed> {
        None
    }

    /// Returns the type whose members every lazy result has: the iterator trait.
    fn iterator_type(&self, _linker: &Linker<'_>) -> Option<PathId> {
        None
    }

    /// Returns the type that a library's alias of a type stands for.
    fn alias_target_type(&self, _linker: &Linker<'_>, _ty: PathId) -> Option<PathId> {
        None
    }

    /// True if a member of this name of a wrapper type is the wrapped value: `.0` of `Json(body)`.
    fn is_field_of_wrapper(&self, _name: &str) -> bool {
        false
    }

    /// Returns the value of a field on one receiver, if the field's declared type is a type parameter of its class.
    fn field_on_receiver(&self, _linker: &Linker<'_>, _owner: ClassRef, _var: VarId, _receiver: Val) -> Option<Typed> {
        None
    }

    /// Returns the value of an attribute on an instance, if the class assigns a library's descriptor to it.
    fn descriptor_value(&self, _linker: &Linker<'_>, _owner: ClassRef, _var: VarId) -> Option<Typed> {
        None
    }

    // Implicit calls.

    /// Returns the kinds of calls that code makes without naming the method.
    fn implicit_calls(&self) -> &'static [ImplicitCall];

    /// True if a site runs only one of the rows among its targets, not all of them.
    fn rows_are_alternatives(&self, targets: &Targets) -> bool {
        targets.list.len() > 1
    }

    /// True if a site runs only one of the bodies among its targets, not all of them.
    fn bodies_are_alternatives(&self, _linker: &Linker<'_>, _site: SiteRef, targets: &Targets) -> bool {
        self.rows_are_alternatives(targets)
    }

    /// True if a loop over an object calls this method.
    fn is_iteration_method(&self, _linker: &Linker<'_>, _body: BodyRef) -> bool {
        false
    }

    // Results.

    /// Returns the result of a call whose result is otherwise unknown: a generated getter, `build()` of a derived
    /// builder.
    fn unknown_result(&self, _linker: &Linker<'_>, _site: SiteRef, _env: EnvId) -> Option<Typed> {
        None
    }

    // Values, results and models.

    /// Returns the result of calling a class.
    fn constructor_result(&self, linker: &Linker<'_>, class: ClassRef, _site: SiteRef, _env: EnvId) -> Typed {
        linker.known(Val::Instance { class, exact: true, args: ArgsId::NONE })
    }

    /// Returns the result of a function with the type arguments that the arguments of the call determine; `declared` is
    /// its declared result.
    fn refine_result(
        &self,
        _linker: &Linker<'_>,
        declared: Typed,
        _body: BodyRef,
        _call: (SiteRef, EnvId),
        _with_receiver: bool,
    ) -> Typed {
        declared
    }

    /// True if a call of a field's name reads the field, because a macro generates getters.
    fn calls_getter_by_field(&self) -> bool {
        false
    }

    /// Returns the result of a builtin function that the linker evaluates: `super()`, `getattr`.
    fn builtin_result(&self, _linker: &Linker<'_>, _path: &str, _site: SiteRef, _env: EnvId) -> Option<Typed> {
        None
    }

    /// Returns the collection that a call makes of an iterator, by its expected type: `.collect::<Vec<_>>()`.
    fn collect_result(
        &self,
        _linker: &Linker<'_>,
        _path: &str,
        _receiver: Val,
        _call: (SiteRef, EnvId),
    ) -> Option<Typed> {
        None
    }

    /// Returns the result of a library's function that no row describes; `owner` is the function's receiver or type.
    fn result_without_row(
        &self,
        _linker: &Linker<'_>,
        _path: &str,
        _owner: Val,
        _receiver: BoundId,
        _call: (SiteRef, EnvId),
    ) -> Option<Typed> {
        None
    }

    /// Returns the result of a call by its explicit type arguments: `request.app_data::<Data<App>>()`.
    fn result_by_type_argument(&self, _linker: &Linker<'_>, _site: SiteRef, _env: EnvId) -> Option<Typed> {
        None
    }

    /// True if the lazy result of a call iterates over objects among its arguments.
    fn iterates_over_arguments(&self, _linker: &Linker<'_>, _site: SiteRef, _env: EnvId) -> bool {
        false
    }

    /// Returns the element of a loop over an instance of a project's class; `None` if the rules that all languages
    /// share apply.
    fn element_of_instance(&self, _linker: &Linker<'_>, _member: Val) -> Option<Typed> {
        None
    }

    /// Returns the n-th field of an instance, for a pattern: `let Point(x, y) = point`.
    fn pattern_field(&self, _linker: &Linker<'_>, _member: Val, _index: u32) -> Option<Typed> {
        None
    }

    /// Returns the value of a method's first parameter, if it is the receiver: `self`, `cls`.
    fn first_param(&self, _linker: &Linker<'_>, _param: VarRef) -> Option<Typed> {
        None
    }

    /// Returns the value of a parameter with a known declared type.
    fn refine_param(&self, _linker: &Linker<'_>, _body: BodyRef, _index: u32, declared: Typed) -> Typed {
        declared
    }

    /// Returns the value of a lambda's parameter, by the function that the lambda is passed to.
    fn lambda_param(&self, _linker: &Linker<'_>, _body: BodyRef, _index: u32) -> Option<Typed> {
        None
    }

    /// Returns the declared result of a method on one receiver; `Break` if it is final.
    fn returned_on_receiver(
        &self,
        _linker: &Linker<'_>,
        _body: BodyRef,
        typed: Typed,
        _receiver: Val,
    ) -> ControlFlow<Typed, Typed> {
        ControlFlow::Continue(typed)
    }

    /// Returns the result of a function with a known declared result.
    fn refine_returned(&self, _linker: &Linker<'_>, _body: BodyRef, declared: Typed) -> Typed {
        declared
    }

    /// Returns a value as it is assigned or returned: the name of a unit struct (`struct Store;`) becomes its instance.
    fn as_owned(&self, _linker: &Linker<'_>, typed: Typed) -> Typed {
        typed
    }

    /// Returns the declared type of a variable without a known assignment.
    fn declared_variable(&self, _linker: &Linker<'_>, _scope: Scope, _var: VarId) -> Option<Typed> {
        None
    }

    /// Returns all items of one name, if the build chooses one of them: `#[cfg(unix)]`.
    fn items_of_same_name(&self, _linker: &Linker<'_>, _scope: Scope, _var: VarId) -> Option<Typed> {
        None
    }

    /// True if a field and the methods of its name share a variable.
    fn shares_name_with_method(&self, _linker: &Linker<'_>, _file: FileId, _var: VarId) -> bool {
        false
    }

    /// Returns the value of a variable with a declared type that applies to all its assignments.
    fn refine_declared(&self, _linker: &Linker<'_>, _var: VarRef, declared: Typed) -> Typed {
        declared
    }

    /// Returns the value of a variable without a declared type; `assigned` is the union of its assignments.
    fn refine_assigned(&self, _linker: &Linker<'_>, _var: VarRef, assigned: Typed) -> Typed {
        assigned
    }

    /// Returns the values that other files assign to a variable of a module.
    fn assigned_by_other_files(&self, _linker: &Linker<'_>, _file: FileId, _var: VarId) -> Option<Typed> {
        None
    }

    /// Returns the value of a variable with a declared type and an assigned value; `None` if the declared type decides.
    fn refine_by_value(&self, _linker: &Linker<'_>, _scope: Scope, _declared: Typed, _row: &Assign) -> Option<Typed> {
        None
    }

    /// True if a value is a call of a function that has the name of the variable's declared library type:
    /// `x: Client = Client()`.
    fn calls_declared_type(&self, _linker: &Linker<'_>, _file: FileId, _declared: Val, _value: FormId) -> bool {
        false
    }

    /// Returns the type that a type parameter of an enclosing class stands for.
    fn type_parameter(
        &self,
        _linker: &Linker<'_>,
        _scope: Scope,
        _sym: Sym,
        _receiver: Option<Val>,
        _depth: u32,
    ) -> Option<Typed> {
        None
    }

    /// Returns the type of a tuple, slice or array in an annotation: `(A, B)`, `[T]`, `T[]`.
    fn displayed_type(&self, linker: &Linker<'_>, _kind: DisplayKind, parts: &[Typed]) -> Typed {
        linker.join(parts)
    }

    /// Returns the async runtime of a file if no row names it.
    fn default_runtime(&self, _linker: &Linker<'_>, _file: FileId) -> Option<Runtime> {
        None
    }

    /// Returns a condition on the parameter whose callers decide the type of an argument, if that type is abstract:
    /// `typing.IO`, `InputStream`.
    fn condition_by_type(
        &self,
        _linker: &Linker<'_>,
        _members: &[Val],
        _site: SiteRef,
        _form: FormId,
        _env: EnvId,
    ) -> Option<ConditionResult> {
        None
    }

    /// Returns the states that earlier calls set on a local: `socket.configureBlocking(false)`.
    fn states_set_by_calls(&self, _linker: &Linker<'_>, _site: SiteRef, _form: FormId) -> Vec<Val> {
        Vec::new()
    }

    /// Returns the library types among the type arguments of an instance: `File` of `Parser<File>`.
    fn library_type_arguments(&self, _linker: &Linker<'_>, _val: Val) -> Vec<PathId> {
        Vec::new()
    }

    // Classes and entry points.

    /// Returns the overrides that another impl block of the same type contains.
    fn overrides_in_other_impls(
        &self,
        _linker: &Linker<'_>,
        _derived: ClassRef,
        _base: ClassRef,
        _name: Name,
    ) -> Vec<BodyRef> {
        Vec::new()
    }

    /// True if a method of a class derived from `base` is a test double or a demo, so that calls of the base do not run
    /// it.
    fn is_test_double_or_demo(&self, linker: &Linker<'_>, body: BodyRef, base: ClassRef) -> bool {
        linker.is_test_double(body, linker.class_body(base))
    }

    /// True if a call of a trait's or interface's method by its path may run any implementation: `Store::load(&store)`.
    fn runs_any_implementation(&self, _linker: &Linker<'_>, _body: BodyRef) -> bool {
        false
    }

    /// True if a decorator registers a function of this file as an entry point.
    fn is_registration(&self, _linker: &Linker<'_>, _decorator: PathId, _body: BodyRef) -> bool {
        true
    }

    /// True if a library runs the methods of a class on threads that may block.
    fn runs_on_workers(&self, _linker: &Linker<'_>, _class: ClassRef) -> bool {
        false
    }

    /// True if a function without `async` returns a future or publisher.
    fn returns_async_result(&self, _linker: &Linker<'_>, _body: BodyRef) -> bool {
        false
    }

    /// True if an asynchronous entry point of a file runs on an event loop.
    fn runs_async_on_loop(&self, _linker: &Linker<'_>, _file: FileId) -> bool {
        true
    }

    /// True if a file is built for tests only, because the module that declares it is: `#[cfg(test)] mod helpers;`.
    fn is_test_module(&self, _linker: &Linker<'_>, _file: FileId) -> bool {
        false
    }

    /// Returns the number of rounds of a loop around a site, as few or many.
    fn loop_rounds(&self, _linker: &Linker<'_>, _site: SiteRef, _loop_region: RegionId) -> Rounds {
        Rounds::Many
    }
}

/// Returns the implementation of [`Semantics`] for a language.
pub(crate) fn semantics(language: Language) -> &'static dyn Semantics {
    match language {
        Language::Python => &python::Python,
        Language::Rust => &rust::Rust,
        Language::Java => &java::Java,
    }
}

/// Returns the library types among the type arguments of an instance of a project's class.
pub(crate) fn library_type_arguments(linker: &Linker<'_>, val: Val) -> Vec<PathId> {
    match val {
        Val::Instance { class, .. } => {
            semantics(linker.program.language(class.file)).library_type_arguments(linker, val)
        }
        _ => Vec::new(),
    }
}

/// Returns the names of the implicit calls of a language, for tests.
pub fn names_of_implicit_calls(language: Language) -> Vec<&'static str> {
    semantics(language).implicit_calls().iter().map(|call| call.name).collect()
}

/// Returns the names of a language that change the meaning of code.
pub fn words_of(language: Language) -> &'static LanguageWords {
    semantics(language).words()
}

/// Returns the aliases under which imports bind names: original → aliases.
pub(crate) fn import_aliases(program: &Program<'_>) -> FxHashMap<Name, Vec<Name>> {
    let mut aliases: FxHashMap<Name, Vec<Name>> = FxHashMap::default();
    for (slot, source) in program.files.iter().enumerate() {
        let file = FileId(slot as u32);
        let facts = &source.facts;
        for assign in facts.assigns.iter().filter(|assign| assign.kind == AssignKind::Import) {
            let (Form::Var(var), Form::Import(import)) = (facts.form(assign.target), facts.form(assign.value)) else {
                continue;
            };
            let import = facts.import(import);
            let bound = facts.var(var).name;
            if import.name.is_some() && import.name != bound {
                let (Some(original), Some(alias)) = (program.global(file, import.name), program.global(file, bound))
                else {
                    continue;
                };
                let list = aliases.entry(original).or_default();
                if !list.contains(&alias) {
                    list.push(alias);
                }
            } else if import.name.is_none() && facts.language == Language::Rust {
                // `use a::b as c`: the last segment of the module is the name.
                let last = facts.text(import.module).rsplit("::").next().unwrap_or("");
                if let (Some(original), Some(alias)) = (program.name(last), program.global(file, bound))
                    && original != alias
                {
                    let list = aliases.entry(original).or_default();
                    if !list.contains(&alias) {
                        list.push(alias);
                    }
                }
            }
        }
    }
    aliases
}

/// Returns the class in a type test of a variable, and true if the variable is an instance of it when the test's result
/// is `outcome` (`isinstance(v, C)`, `v instanceof C`).
pub(crate) fn instance_test(facts: &FileFacts, test: FormId, outcome: bool, var: VarId) -> Option<(FormId, bool)> {
    match facts.form(test) {
        Form::Result(site) if facts.text(facts.site(site).name) == "isinstance" => {
            let [subject, class] = facts.args_of(site)[..] else { return None };
            (facts.form(subject.value) == Form::Var(var)).then_some((class.value, outcome))
        }
        Form::Cast(value, class) if facts.form(value) == Form::Var(var) => Some((class, outcome)),
        Form::Not(inner) => instance_test(facts, inner, !outcome, var),
        // If `a and b` is true, both operands are true; if `a or b` is false, both are false.
        Form::Alt(blocklint_facts::AltKind::And, list) if outcome => {
            facts.list(list).iter().find_map(|&part| instance_test(facts, part, true, var))
        }
        Form::Alt(blocklint_facts::AltKind::Or, list) if !outcome => {
            facts.list(list).iter().find_map(|&part| instance_test(facts, part, false, var))
        }
        _ => None,
    }
}
