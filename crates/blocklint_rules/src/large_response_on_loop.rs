//! BLT201 large-response-on-loop.

use blocklint_core::{Applicability, Refusal, Remedy, RuleCode, Way};

use crate::Rule;
use crate::words::one_line;

/// A large response that a framework serialises on the event loop.
pub(crate) static LARGE_RESPONSE_ON_LOOP: Rule = Rule {
    code: RuleCode(201),
    name: "large-response-on-loop",
    summary: "a response that may be large is serialised on the event loop",
    page: include_str!("../../../rules/BLT201-large-response-on-loop.md"),
    effect: None,
    noun: "large response",
};

/// How a response is made of what an endpoint returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// One call of compiled code gives the bytes.
    Direct,
    /// Data first, then JSON by the interpreter's encoder: so does the version.
    Rendered,
    /// The same, for a response class is named.
    ByClass,
    /// The endpoint makes a response of data itself.
    ByHand,
    /// Every value by Python code, for nothing says what they are.
    Encoded,
    /// pydantic 1.
    Old,
}

/// A response that may be large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// Which way it takes.
    pub path: Path,
    /// The endpoint.
    pub endpoint: &'a str,
    /// The call that its items come from, as written.
    pub source: Option<&'a str>,
    /// Whether the code of that call is not there, so that nobody knows how many it gives.
    pub is_unseen: bool,
    /// A bound that is visible and large.
    pub bound: Option<u64>,
    /// Annotated fields of one item; 0 where they are not known.
    pub fields: u32,
    /// Levels of models of one item; 0 where they are not known.
    pub levels: u32,
    /// What else versions of the declared range do.
    pub versions: Option<&'a str>,
    /// The response class of the route, as written, if it may be dropped.
    pub class: Option<&'a str>,
    /// The response model that could be declared, as the file writes it.
    pub model: Option<&'a str>,
}

impl Response<'_> {
    pub(crate) fn message(&self) -> String {
        let endpoint = self.endpoint;
        let many = match (self.bound, self.source) {
            (Some(bound), _) => format!("up to {bound} items"),
            (None, Some(source)) if self.is_unseen => {
                format!("a list of unknown size, which `{}()` gives", one_line(source).trim_end_matches("()"))
            }
            (None, Some(source)) => format!("all that `{}()` gives", one_line(source).trim_end_matches("()")),
            (None, None) => "a collection of unknown size".to_owned(),
        };
        let meanwhile = match self.path {
            Path::Direct => "it is serialised",
            Path::ByClass => "data are made of it before JSON is",
            Path::Rendered | Path::ByHand => "JSON is rendered of it in Python",
            Path::Encoded => "`jsonable_encoder` converts it",
            Path::Old => "pydantic 1 converts it",
        };
        format!("`{endpoint}` returns {many}, and the event loop stands still while {meanwhile}")
    }

    /// What happens on the way.
    pub(crate) fn why(&self) -> String {
        match self.path {
            Path::Direct => {
                "the response is serialised on the event loop, also that of a plain `def`, in one call that nothing interrupts"
            }
            Path::Rendered => {
                "JSON is rendered in Python: data are made of the values first, then `json.dumps` runs over all of them, on the \
                 event loop"
            }
            Path::ByClass => {
                "a response class turns off the way in which the response model gives the bytes in one compiled call: data are made \
                 of the values first, then JSON of the data, on the event loop"
            }
            Path::ByHand => {
                "JSON of all of it is rendered in one call, which keeps the interpreter's lock also in the thread of a plain `def`"
            }
            Path::Encoded => {
                "without a response model `jsonable_encoder` converts every value in Python, on the event loop, before JSON is \
                 rendered"
            }
            Path::Old => {
                "pydantic 1 converts and validates every value again in Python, on the event loop, before JSON is rendered"
            }
        }
        .to_owned()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_unseen {
            notes.push("the size is unknown: the code that gives the rows is not read, and nothing in sight bounds them".to_owned());
        }
        match (self.levels, self.fields) {
            (2.., fields) => notes.push(format!("each item has {fields} fields and {} levels of models", self.levels)),
            (_, 20..) => notes.push(format!("each item has {} fields", self.fields)),
            _ => {}
        }
        notes.extend(self.versions.map(str::to_owned));
        notes
    }

    pub(crate) fn help(&self) -> String {
        let page = "let callers ask for a page of it, or send it in chunks with `StreamingResponse`";
        match (self.path, self.class) {
            (Path::ByClass, Some(class)) => format!("drop `response_class={class}`, and {page}"),
            (Path::ByClass, None) => format!("do without the response class, and {page}"),
            (Path::ByHand, _) => format!("return the data and declare what they are (`-> list[…]`), and {page}"),
            (Path::Rendered, _) => format!("from FastAPI 0.130 on this is three to four times as fast; {page}"),
            (Path::Encoded, _) => match self.model {
                Some(model) => format!("declare `response_model={model}`, and {page}"),
                None => format!("declare what is returned (`-> list[…]` or `response_model`), and {page}"),
            },
            (Path::Old, _) => format!(
                "{page}, or return `Response(content=model.json(by_alias=True), media_type=\"application/json\", status_code=…)`, \
                 which skips the response model's filter of fields"
            ),
            (Path::Direct, _) => page.to_owned(),
        }
    }

    pub(crate) fn remedy(&self) -> Result<Remedy, Refusal> {
        let only = |way: Way| Ok(Remedy { ways: vec![way], at_most: Applicability::Safe });
        match (self.path, self.class, self.model) {
            (Path::ByClass, Some(class), _) => only(Way::DropArgument {
                name: "response_class".to_owned(),
                changes: (class.rsplit('.').next() != Some("JSONResponse"))
                    .then(|| "`NaN` and large integers may be written in another way".to_owned()),
            }),
            (Path::Encoded, _, Some(model)) => only(Way::AddArgument {
                name: "response_model".to_owned(),
                value: model.to_owned(),
                changes: "fields that it lacks are left out, aliases are used, values that do not fit are errors, OpenAPI tells of it"
                    .to_owned(),
            }),
            (Path::Old, ..) => {
                Err(Refusal::new("a response of bytes would skip the filter of fields, aliases and status code"))
            }
            _ => Err(Refusal::new("pages or chunks change what callers get")),
        }
    }
}
