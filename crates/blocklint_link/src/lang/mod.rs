//! Languages: [`Semantics`] lists the places at which the linker asks a language, and each language answers in a folder of its own. The names
//! that change what code means are in [`words`].
//!
//! A new mechanism of a language (a kind of member, a condition) is a method of [`Semantics`] with a default,
//! overridden by the languages that have it. Facts of syntax are not here: the front ends write them.

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

/// The parts of one language in the search for names, values and calls. The first methods have no default. The defaults
/// of the others add nothing, because most languages need nothing at most places.
pub(crate) trait Semantics: Sync {
    /// Returns the language's own names.
    fn words(&self) -> &'static LanguageWords;

    // Names.

    /// Returns the value of a name that its file does not bind: a builtin, a name of the prelude, a class of the package.
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

    /// Returns the member behind one segment of a path: `Store::open`, `Store::new` as a method reference.
    fn path_member(&self, linker: &Linker<'_>, of: Val, name: Name) -> Typed;

    /// Returns a member of a module.
    fn module_member(&self, linker: &Linker<'_>, _module: FileId, _name: Name) -> Typed {
        linker.unknown(Why::Attribute)
    }

    // Members.

    /// Returns a member of an instance of the project; `own` is the one that its class and its fields have.
    fn member_of_instance(&self, _linker: &Linker<'_>, _instance: Val, _name: Name, own: Typed) -> Typed {
        own
    }

    /// Returns a member of a class object; `own` is the one that its class has.
    fn member_of_class(&self, _linker: &Linker<'_>, _class: ClassRef, _name: Name, own: Typed) -> Typed {
        own
    }

    /// Returns a member of a class object that the class does not define, but the language does.
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

    /// Returns a member that a library's type has by a trait, where no row describes it.
    fn member_of_library(&self, _linker: &Linker<'_>, _instance: Val, _name: Name) -> Option<Typed> {
        None
    }

    /// Returns the type whose members all lazy results have.
    fn iterator_type(&self, _linker: &Linker<'_>) -> Option<PathId> {
        None
    }

    /// Returns the type that a library's type is an alias of.
    fn type_behind(&self, _linker: &Linker<'_>, _ty: PathId) -> Option<PathId> {
        None
    }

    /// True if a member of a transparent type of this name is the one field, so the wrapped value itself.
    fn is_field_of_wrapper(&self, _name: &str) -> bool {
        false
    }

    /// Returns the value of a field on one receiver, where it differs from the value of the field: its type is a type argument.
    fn field_on_receiver(&self, _linker: &Linker<'_>, _owner: ClassRef, _var: VarId, _receiver: Val) -> Option<Typed> {
        None
    }

    /// Returns the result of reading a name of a class on an instance, where a descriptor of a library is read.
    fn read_by_descriptor(&self, _linker: &Linker<'_>, _owner: ClassRef, _var: VarId) -> Option<Typed> {
        None
    }

    // Implicit calls.

    /// Returns the calls that code makes without naming the method, each with both directions.
    fn implicit_calls(&self) -> &'static [ImplicitCall];

    /// True if one of the targets of a site is meant, not all of them.
    fn runs_one_of(&self, targets: &Targets) -> bool {
        targets.list.len() > 1
    }

    /// True if one of the targets of a site is meant, and the targets are bodies.
    fn are_alternatives(&self, _linker: &Linker<'_>, _site: SiteRef, targets: &Targets) -> bool {
        self.runs_one_of(targets)
    }

    /// True if a method is one that a loop calls of an object.
    fn is_of_iteration(&self, _linker: &Linker<'_>, _body: BodyRef) -> bool {
        false
    }

    // Results.

    /// Returns the result of a call of which nothing else is known.
    fn unknown_result(&self, _linker: &Linker<'_>, _site: SiteRef, _env: EnvId) -> Option<Typed> {
        None
    }

    // Values, results and models.

    /// Returns the result of calling a class.
    fn constructed(&self, linker: &Linker<'_>, class: ClassRef, _site: SiteRef, _env: EnvId) -> Typed {
        linker.known(Val::Instance { class, exact: true, args: ArgsId::NONE })
    }

    /// Returns the result of a function with the type arguments that the arguments of the call imply.
    fn refine_result(
        &self,
        _linker: &Linker<'_>,
        given: Typed,
        _body: BodyRef,
        _at: (SiteRef, EnvId),
        _with_receiver: bool,
    ) -> Typed {
        given
    }

    /// True if calling a field reads it, because a macro wrote a getter of its name.
    fn calls_getter_by_field(&self) -> bool {
        false
    }

    /// Returns the result of a function that means something to the language itself: `super()`, `getattr`.
    fn builtin_result(&self, _linker: &Linker<'_>, _path: &str, _site: SiteRef, _env: EnvId) -> Option<Typed> {
        None
    }

    /// Returns the collection that a call makes of an iterator, by the type that is expected of it.
    fn collected(&self, _linker: &Linker<'_>, _path: &str, _receiver: Val, _at: (SiteRef, EnvId)) -> Option<Typed> {
        None
    }

    /// Returns the result of a library's function that no row describes; `own` is its receiver or its type.
    fn result_without_row(
        &self,
        _linker: &Linker<'_>,
        _path: &str,
        _own: Val,
        _receiver: BoundId,
        _at: (SiteRef, EnvId),
    ) -> Option<Typed> {
        None
    }

    /// Returns a value of the type that a call names: `request.app_data::<Data<App>>()`.
    fn written_result(&self, _linker: &Linker<'_>, _site: SiteRef, _env: EnvId) -> Option<Typed> {
        None
    }

    /// True if the lazy result of a call iterates over objects among its arguments.
    fn goes_through_objects(&self, _linker: &Linker<'_>, _site: SiteRef, _env: EnvId) -> bool {
        false
    }

    /// Returns the element that a loop over an instance of the project has; nothing if the methods of other languages are to be asked.
    fn element_of_instance(&self, _linker: &Linker<'_>, _member: Val) -> Option<Typed> {
        None
    }

    /// Returns the n-th field of an instance that a pattern takes apart.
    fn part_of_instance(&self, _linker: &Linker<'_>, _member: Val, _index: u32) -> Option<Typed> {
        None
    }

    /// Returns the value of a first parameter that is the receiver of a method.
    fn first_param(&self, _linker: &Linker<'_>, _param: VarRef) -> Option<Typed> {
        None
    }

    /// Returns the value of a parameter with a known declared type.
    fn refine_param(&self, _linker: &Linker<'_>, _body: BodyRef, _index: u32, declared: Typed) -> Typed {
        declared
    }

    /// Returns the value of a lambda's parameter, by the callee that the lambda is passed to.
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

    /// Returns a value as it is moved into a variable or out of a function.
    fn as_owned(&self, _linker: &Linker<'_>, typed: Typed) -> Typed {
        typed
    }

    /// Returns the declared type of a variable of which no assignment is known.
    fn declared_variable(&self, _linker: &Linker<'_>, _scope: Scope, _var: VarId) -> Option<Typed> {
        None
    }

    /// Returns the items that share a name, of which the build chooses one: `#[cfg]`.
    fn items_of_one_name(&self, _linker: &Linker<'_>, _scope: Scope, _var: VarId) -> Option<Typed> {
        None
    }

    /// True if a field and the methods of its name share a variable.
    fn shares_name_with_method(&self, _linker: &Linker<'_>, _file: FileId, _var: VarId) -> bool {
        false
    }

    /// Returns the value of a variable whose declared type counts for all its assignments.
    fn refine_declared(&self, _linker: &Linker<'_>, _var: VarRef, declared: Typed) -> Typed {
        declared
    }

    /// Returns the value of a variable by all its assignments.
    fn refine_assigned(&self, _linker: &Linker<'_>, _var: VarRef, assigned: Typed) -> Typed {
        assigned
    }

    /// Returns the values that other files assign to a variable of a module.
    fn assigned_by_other_files(&self, _linker: &Linker<'_>, _file: FileId, _var: VarId) -> Option<Typed> {
        None
    }

    /// Returns the value of a variable with a declared type and an assigned value, where the language has a rule of its own.
    fn refine_by_value(&self, _linker: &Linker<'_>, _scope: Scope, _declared: Typed, _row: &Assign) -> Option<Typed> {
        None
    }

    /// True if a value is a call under the last name of a library's type.
    fn makes_declared(&self, _linker: &Linker<'_>, _file: FileId, _declared: Val, _value: FormId) -> bool {
        false
    }

    /// Returns the type that a type parameter of a class around stands for.
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

    /// Returns the type that brackets in a type stand for: `(A, B)`, `[T]`, `T[]`.
    fn displayed_type(&self, linker: &Linker<'_>, _kind: DisplayKind, parts: &[Typed]) -> Typed {
        linker.join(parts)
    }

    /// Returns the runtime of a file that no row describes further.
    fn default_runtime(&self, _linker: &Linker<'_>, _file: FileId) -> Option<Runtime> {
        None
    }

    /// Returns the parameter whose callers decide which type an argument has: a value that is declared as any file or stream.
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

    /// Returns the states that calls on a local bring it into.
    fn set_up_as(&self, _linker: &Linker<'_>, _site: SiteRef, _form: FormId) -> Vec<Val> {
        Vec::new()
    }

    /// Returns the types that a generic type of the project is made for: `File` of `Parser<File>`.
    fn types_of_arguments(&self, _linker: &Linker<'_>, _val: Val) -> Vec<PathId> {
        Vec::new()
    }

    // Classes and entry points.

    /// Returns the methods that a derived class has by another one: an impl block of the same type.
    fn overrides_beside(&self, _linker: &Linker<'_>, _derived: ClassRef, _of: ClassRef, _name: Name) -> Vec<BodyRef> {
        Vec::new()
    }

    /// True if a method is no implementation of its base, because it is a test double.
    fn is_stand_in(&self, linker: &Linker<'_>, body: BodyRef, of: ClassRef) -> bool {
        linker.is_test_double(body, linker.class_body(of))
    }

    /// True if the method of a trait or interface, called by its path, runs any implementation of it.
    fn runs_any_implementation(&self, _linker: &Linker<'_>, _body: BodyRef) -> bool {
        false
    }

    /// True if a decorator registers a function as an entry point in its file.
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

    /// True if a file is built for tests only, by the module that declares it.
    fn is_test_module(&self, _linker: &Linker<'_>, _file: FileId) -> bool {
        false
    }

    /// Returns how often a loop around a site goes round.
    fn rounds(&self, _linker: &Linker<'_>, _site: SiteRef, _within: RegionId) -> Rounds {
        Rounds::Many
    }
}

/// Returns how a language looks up names, values and calls.
pub(crate) fn semantics(language: Language) -> &'static dyn Semantics {
    match language {
        Language::Python => &python::Python,
        Language::Rust => &rust::Rust,
        Language::Java => &java::Java,
    }
}

/// Returns the library types among the type arguments of an instance of the project.
pub(crate) fn types_of_arguments(linker: &Linker<'_>, val: Val) -> Vec<PathId> {
    match val {
        Val::Instance { class, .. } => semantics(linker.program.language(class.file)).types_of_arguments(linker, val),
        _ => Vec::new(),
    }
}

/// Returns the names of the implicit calls of a language, for tests.
pub fn names_of_implicit_calls(language: Language) -> Vec<&'static str> {
    semantics(language).implicit_calls().iter().map(|call| call.name).collect()
}

/// Returns the names of a language that change what code means.
pub fn words_of(language: Language) -> &'static LanguageWords {
    semantics(language).words()
}

/// Returns names under which imports bind another name: original → aliases.
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

/// Returns the class that a test with the result `holds` compares a variable with, and whether the variable is then an
/// instance of it (`isinstance(v, C)`, `v instanceof C`).
pub(crate) fn instance_test(facts: &FileFacts, test: FormId, holds: bool, var: VarId) -> Option<(FormId, bool)> {
    match facts.form(test) {
        Form::Result(site) if facts.text(facts.site(site).name) == "isinstance" => {
            let [subject, class] = facts.args_of(site)[..] else { return None };
            (facts.form(subject.value) == Form::Var(var)).then_some((class.value, holds))
        }
        Form::Cast(value, class) if facts.form(value) == Form::Var(var) => Some((class, holds)),
        Form::Not(inner) => instance_test(facts, inner, !holds, var),
        // All of `a and b` hold, none of `a or b` does.
        Form::Alt(blocklint_facts::AltKind::And, list) if holds => {
            facts.list(list).iter().find_map(|&part| instance_test(facts, part, true, var))
        }
        Form::Alt(blocklint_facts::AltKind::Or, list) if !holds => {
            facts.list(list).iter().find_map(|&part| instance_test(facts, part, false, var))
        }
        _ => None,
    }
}
