//! BLT201 large-response-on-loop.

use blocklint_core::{
    Applicability, EditKind, Language, LargeResponse, Mistake, Refusal, Remedy, RuleCode, Serialisation,
};

use crate::remedy::NO_EDIT;
use crate::rule::MistakeWords;
use crate::words::{FindingText, Subject, one_line};
use crate::{Advice, Rule};

/// Reports large responses that a framework serialises on the event loop.
pub(crate) static LARGE_RESPONSE_ON_LOOP: Rule = Rule {
    code: RuleCode::LARGE_RESPONSE_ON_LOOP,
    name: "large-response-on-loop",
    summary: "a response that may be large is serialised on the event loop",
    page: include_str!("../../../rules/BLT201-large-response-on-loop.md"),
    effect: None,
    noun: "large response",
    mistake_words: Some(&WORDS),
};

static WORDS: MistakeWords = MistakeWords { words, remedy, doubt };

fn words(subject: &Subject<'_>) -> Option<FindingText> {
    let Mistake::LargeResponse(response) = subject.mistake else { return None };
    let mut notes = vec![why(response.serialisation).to_owned()];
    notes.extend(size_notes(response));
    Some(FindingText { message: message(response), notes, help: Some(help(response)) })
}

fn message(response: &LargeResponse) -> String {
    let endpoint = &response.endpoint;
    let many = match (response.bound, response.source.as_deref()) {
        (Some(bound), _) => format!("up to {bound} items"),
        (None, Some(source)) if response.is_source_unknown => {
            format!("a list of unknown size from `{}()`", one_line(source).trim_end_matches("()"))
        }
        (None, Some(source)) => format!("all results of `{}()`", one_line(source).trim_end_matches("()")),
        (None, None) => "a collection of unknown size".to_owned(),
    };
    let meanwhile = match response.serialisation {
        Serialisation::Direct => "it is serialised",
        Serialisation::ByClass => "it is converted to plain data before it is rendered as JSON",
        Serialisation::Rendered | Serialisation::ByHand => "JSON is rendered in Python",
        Serialisation::Encoded => "`jsonable_encoder` converts it",
        Serialisation::Pydantic1 => "pydantic 1 converts it",
    };
    format!("`{endpoint}` returns {many}, and the event loop is blocked while {meanwhile}")
}

/// Returns the note on the work that blocks the event loop.
fn why(serialisation: Serialisation) -> &'static str {
    match serialisation {
        Serialisation::Direct => {
            "the response is serialised on the event loop, also that of a plain `def`, in one call that nothing \
             interrupts"
        }
        Serialisation::Rendered => {
            "JSON is rendered in Python on the event loop: the values are first converted to plain data, then \
             `json.dumps` runs over all of them"
        }
        Serialisation::ByClass => {
            "with this response class the response model does not render the bytes in one compiled call: on the event \
             loop the values are first converted to plain data, then to JSON"
        }
        Serialisation::ByHand => {
            "JSON of all of it is rendered in one call, which keeps the interpreter's lock also in the thread of a \
             plain `def`"
        }
        Serialisation::Encoded => {
            "without a response model `jsonable_encoder` converts every value in Python, on the event loop, before JSON is \
             rendered"
        }
        Serialisation::Pydantic1 => {
            "pydantic 1 converts and validates every value again in Python, on the event loop, before JSON is rendered"
        }
    }
}

/// Returns notes on the size of the response.
fn size_notes(response: &LargeResponse) -> Vec<String> {
    let mut notes = Vec::new();
    if response.is_source_unknown {
        notes.push(
            "the size is unknown: the code that returns the rows was not read, and no limit is visible".to_owned(),
        );
    }
    match (response.nesting_depth, response.fields) {
        (2.., fields) => {
            notes.push(format!("each item has {fields} fields and {} levels of models", response.nesting_depth))
        }
        (_, 20..) => notes.push(format!("each item has {} fields", response.fields)),
        _ => {}
    }
    notes.extend(response.versions.clone());
    notes
}

/// Returns the help.
fn help(response: &LargeResponse) -> String {
    let paging = "let callers ask for a page of it, or send it in chunks with `StreamingResponse`";
    match (response.serialisation, response.class.as_deref()) {
        (Serialisation::ByClass, Some(class)) => format!("drop `response_class={class}`, and {paging}"),
        (Serialisation::ByClass, None) => format!("drop the response class, and {paging}"),
        (Serialisation::ByHand, _) => format!("return the data and declare their type (`-> list[…]`), and {paging}"),
        (Serialisation::Rendered, _) => format!("from FastAPI 0.130 on this is three to four times as fast; {paging}"),
        (Serialisation::Encoded, _) => match response.model.as_deref() {
            Some(model) => format!("declare `response_model={model}`, and {paging}"),
            None => format!("declare the return type (`-> list[…]` or `response_model`), and {paging}"),
        },
        (Serialisation::Pydantic1, _) => format!(
            "{paging}, or return `Response(content=model.json(by_alias=True), media_type=\"application/json\", status_code=…)`, \
             which skips the response model's filter of fields"
        ),
        (Serialisation::Direct, _) => paging.to_owned(),
    }
}

fn remedy(subject: &Subject<'_>, _: &Advice) -> Option<Result<Remedy, Refusal>> {
    let Mistake::LargeResponse(response) = subject.mistake else { return None };
    Some(match subject.language {
        Language::Python => remedy_of(response),
        Language::Rust => Err(Refusal::new("the response must be changed by hand")),
        Language::Java => Err(Refusal::new(NO_EDIT)),
    })
}

fn remedy_of(response: &LargeResponse) -> Result<Remedy, Refusal> {
    let only = |edit_kind: EditKind| Ok(Remedy { edit_kinds: vec![edit_kind], at_most: Applicability::Safe });
    match (response.serialisation, response.class.as_deref(), response.model.as_deref()) {
        (Serialisation::ByClass, Some(class), _) => only(EditKind::DropArgument {
            name: "response_class".to_owned(),
            changes: (class.rsplit('.').next() != Some("JSONResponse"))
                .then(|| "`NaN` and large integers may be written in another way".to_owned()),
        }),
        (Serialisation::Encoded, _, Some(model)) => only(EditKind::AddArgument {
            name: "response_model".to_owned(),
            value: model.to_owned(),
            changes: "fields that the model lacks are left out, aliases are used, values of another type are errors, \
                      and OpenAPI describes the model"
                .to_owned(),
        }),
        (Serialisation::Pydantic1, ..) => {
            Err(Refusal::new("a response of bytes would skip the filter of fields, aliases and status code"))
        }
        _ => Err(Refusal::new("pages or chunks change the response that callers receive")),
    }
}

fn doubt(mistake: &Mistake) -> Option<&'static str> {
    match mistake {
        Mistake::LargeResponse(LargeResponse { is_source_unknown: true, .. }) => {
            Some("the code that produces the items was not read, so their number is unknown")
        }
        Mistake::LargeResponse(LargeResponse { bound: None, .. }) => {
            Some("the code does not show how many items there are")
        }
        _ => None,
    }
}
