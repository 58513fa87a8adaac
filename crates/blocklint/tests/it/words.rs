//! Tests that sentences begin with their subject. Words such as *what* and *who* at the beginning make a clause the
//! subject, and a reader must read such a sentence twice. Documents and Python files have none; comments of a crate
//! have at most as many as `words.txt` says for its files. CONTRIBUTING.md, "How we write", has all rules; this test
//! checks the one that a list of words can check. Texts for users (reasons of a `Refusal`, messages, help) have none of
//! the phrases in `RIDDLES`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use crate::support::{files_below, repository};

/// Words that begin no sentence, unless it is a question.
const REFUSED: [&str; 6] = ["What", "Whatever", "Who", "Whoever", "Whether", "That which"];
/// Words that begin no doc comment or docstring, because it should say the difference instead.
const REFUSED_IN_DOC_COMMENTS: &str = "The same";
/// Headings that programs print, and for which readers search.
const ALLOWED: [&str; 1] = ["What it reports"];
/// Documents that are generated from code, whose comments count for their crate.
const GENERATED: [&str; 5] =
    ["docs/configuration.md", "docs/libraries.md", "docs/rules.md", "docs/severity.md", "docs/signals.md"];
/// Folders with Python files of this repository.
const PYTHON_FOLDERS: [&str; 9] = [
    ".ci",
    "benchmarks",
    "blocklint",
    "examples",
    "packaging",
    "rules/models",
    "tests/editors",
    "tests/neighbours",
    "tests/proof",
];
/// Folders with files that are downloaded or built.
const SKIPPED_FOLDERS: [&str; 4] = ["corpora", "__pycache__", "target", "node_modules"];
/// Phrases that make a riddle of a text for users, and the words to use instead.
const RIDDLES: [(&str, &str); 18] = [
    ("it stands", "the call is"),
    ("stands in", "is in"),
    ("stands there", "is at this place"),
    ("lies in", "is in"),
    ("lies outside", "is outside"),
    ("what it", "its result, its value"),
    ("is no word", "is not a directive"),
    ("is told", "is reported"),
    ("for the program to say", "must be chosen by hand"),
    ("for the chain to say", "the chain does not decide"),
    ("hand over", "pass"),
    ("handed over", "passed"),
    ("handed to", "passed to"),
    ("nobody", "no known code"),
    ("somebody", "other code"),
    ("speaks of", "describes"),
    ("says nothing", "does not say"),
    ("silences", "suppresses"),
];
/// Texts for users that contain such a phrase as a name.
const NAMES_IN_TEXTS: [&str; 1] = ["called instead of handed over"];
/// Crates whose strings users do not see, or see only when they write models and fixtures.
const CRATES_WITHOUT_TEXTS: [&str; 4] = ["blocklint_builtin", "blocklint_models", "blocklint_test", "blocklint_verify"];
/// Files whose doc comments are help texts of the command line.
const HELP_TEXTS: [&str; 2] = ["crates/blocklint/src/arguments.rs", "crates/blocklint/src/run_arguments.rs"];
/// The least number of words of a string that is a text.
const LEAST_WORDS: usize = 4;
/// The file with the allowed number of such sentences for each source file.
const COUNTS: &str = "crates/blocklint/tests/it/words.txt";

/// Text between blank lines, with its first line.
#[derive(Debug, Default, PartialEq)]
struct Paragraph {
    line: usize,
    text: String,
    is_doc: bool,
}

/// Collects lines into paragraphs.
#[derive(Default)]
struct Paragraphs {
    done: Vec<Paragraph>,
    open: Option<Paragraph>,
}

impl Paragraphs {
    fn end(&mut self) {
        self.done.extend(self.open.take());
    }

    fn add(&mut self, line: usize, text: &str, is_doc: bool) {
        let open = self.open.get_or_insert_with(|| Paragraph { line, text: String::new(), is_doc });
        open.text.push_str(text);
        open.text.push(' ');
    }

    fn add_alone(&mut self, line: usize, text: &str) {
        self.end();
        self.add(line, text, false);
        self.end();
    }
}

/// Returns a list item's text, if the line begins one.
fn list_item(line: &str) -> Option<&str> {
    if let Some(text) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(text);
    }
    let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    if rest.len() < line.len() { rest.strip_prefix(". ") } else { None }
}

/// Returns headings, cells of tables, list items and paragraphs of a Markdown document; blocks of code are left out.
fn paragraphs_of_document(text: &str) -> Vec<Paragraph> {
    let mut found = Paragraphs::default();
    let mut fence: Option<String> = None;
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        let marks = text.len() - text.trim_start_matches('`').len();
        match &fence {
            Some(open) => {
                if text == open {
                    fence = None;
                }
            }
            None if marks >= 3 => {
                found.end();
                fence = Some("`".repeat(marks));
            }
            None if text.is_empty() => found.end(),
            None if text.starts_with('#') => found.add_alone(line, text.trim_start_matches('#')),
            None if text.starts_with('|') => {
                for cell in text.split('|') {
                    found.add_alone(line, cell);
                }
            }
            None => match list_item(text) {
                Some(item) => {
                    found.end();
                    found.add(line, item, false);
                }
                None => found.add(line, text, false),
            },
        }
    }
    found.end();
    found.done
}

/// Returns the comments of a source file that stand on lines of their own.
fn comments_of_source(text: &str) -> Vec<Paragraph> {
    let mut found = Paragraphs::default();
    let mut kind = "";
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        let begins = ["///", "//!", "//"].into_iter().find(|mark| text.starts_with(mark)).unwrap_or("");
        if begins != kind {
            found.end();
            kind = begins;
        }
        let words = text[begins.len()..].trim();
        match (begins.is_empty() || words.is_empty(), list_item(words)) {
            (true, _) => found.end(),
            (false, Some(item)) => {
                found.end();
                found.add(line, item, begins != "//");
            }
            (false, None) => found.add(line, words, begins != "//"),
        }
    }
    found.end();
    found.done
}

/// Returns the comments on lines of their own and the docstrings of a Python file.
fn comments_of_python(text: &str) -> Vec<Paragraph> {
    const QUOTES: &str = "\"\"\"";
    let mut paragraphs = Paragraphs::default();
    // The kind of the triple-quoted string that is open: true for a docstring, which begins its line.
    let mut open_string: Option<bool> = None;
    for (line, text) in (1..).zip(text.lines().map(str::trim)) {
        let quote_count = text.matches(QUOTES).count();
        let (words, is_docstring) = match open_string {
            Some(is_docstring) => (if is_docstring { text } else { "" }, is_docstring),
            None if text.starts_with(QUOTES) => {
                paragraphs.end();
                (text, true)
            }
            None => (text.strip_prefix('#').map_or("", |words| words.trim_start_matches([':', '!'])), false),
        };
        if quote_count % 2 == 1 {
            open_string = match open_string {
                Some(_) => None,
                None => Some(is_docstring),
            };
        }
        let is_last = is_docstring && quote_count > 0 && open_string.is_none();
        let words = words.trim_matches(['"', ' ']);
        match (words.is_empty(), list_item(words)) {
            (true, _) => paragraphs.end(),
            (false, Some(item)) => {
                paragraphs.end();
                paragraphs.add(line, item, is_docstring);
            }
            (false, None) => paragraphs.add(line, words, is_docstring),
        }
        if is_last {
            paragraphs.end();
        }
    }
    paragraphs.end();
    paragraphs.done
}

/// Adds the Python files below a folder: those named `*.py`, and scripts whose first line names Python.
fn add_python_files(folder: &Path, files: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !path.is_symlink() {
            if !SKIPPED_FOLDERS.contains(&name) {
                add_python_files(&path, files);
            }
        } else if is_python(&path) {
            let relative = path.strip_prefix(repository()).expect("below the root");
            files.push(relative.to_str().expect("UTF-8").replace('\\', "/"));
        }
    }
}

fn is_python(path: &Path) -> bool {
    match path.extension() {
        Some(extension) => extension == "py",
        None => fs::read_to_string(path).is_ok_and(|text| {
            text.lines().next().is_some_and(|line| line.starts_with("#!") && line.contains("python"))
        }),
    }
}

/// Returns the sentences of a text, without marks of emphasis and quotes before them.
fn sentences(text: &str) -> Vec<&str> {
    let marks: &[char] = &['*', '_', '"', '(', '>', ' '];
    let mut found = Vec::new();
    let mut begin = 0;
    for (at, sign) in text.char_indices() {
        if !matches!(sign, '.' | '!' | '?' | ':' | ';') {
            continue;
        }
        // Emphasis may end behind the sign: `**It ends.** The next one`.
        let behind = text[at + 1..].trim_start_matches(['*', '_', '"', ')']);
        let next = behind.trim_start_matches(marks);
        if behind.starts_with(' ') && next.starts_with(char::is_uppercase) {
            found.push(&text[begin..at + 1]);
            begin = text.len() - next.len();
        }
    }
    found.push(&text[begin..]);
    found.into_iter().map(|sentence| sentence.trim_start_matches(marks).trim_end()).collect()
}

fn begins_with(sentence: &str, words: &str) -> bool {
    sentence.strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Returns the sentences of paragraphs that begin with a refused word, with their lines.
fn refused(paragraphs: &[Paragraph]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for paragraph in paragraphs {
        for (place, sentence) in sentences(&paragraph.text).into_iter().enumerate() {
            let is_question = sentence.trim_end_matches(['*', '_', '"', ')', ' ']).ends_with('?');
            let is_refused = REFUSED.iter().any(|words| begins_with(sentence, words))
                || (paragraph.is_doc && place == 0 && begins_with(sentence, REFUSED_IN_DOC_COMMENTS));
            if is_refused && !is_question && !ALLOWED.contains(&sentence) {
                found.push((paragraph.line, sentence.chars().take(100).collect()));
            }
        }
    }
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn sentences_of_documents_begin_with_their_subject() {
    let mut documents: Vec<String> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).to_vec();
    for folder in ["docs", "rules", "tests/fixtures"] {
        documents.extend(files_below(folder, "md"));
    }
    documents.retain(|path| !GENERATED.contains(&path.as_str()));
    let found: Vec<String> = documents
        .iter()
        .flat_map(|path| {
            let lines = refused(&paragraphs_of_document(&read(path)));
            lines.into_iter().map(move |(line, sentence)| format!("{path}:{line}: {sentence}"))
        })
        .collect();
    assert!(documents.len() > 200, "only {} documents were found", documents.len());
    let help = "begin these sentences with their subject, as CONTRIBUTING.md (\"How we write\") shows";
    assert!(found.is_empty(), "{help}:\n{}", found.join("\n"));
}

#[test]
fn sentences_of_python_files_begin_with_their_subject() {
    let mut files = Vec::new();
    for folder in PYTHON_FOLDERS {
        add_python_files(&repository().join(folder), &mut files);
    }
    files.sort();
    let found: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let lines = refused(&comments_of_python(&read(path)));
            lines.into_iter().map(move |(line, sentence)| format!("{path}:{line}: {sentence}"))
        })
        .collect();
    assert!(files.len() > 100, "only {} Python files were found", files.len());
    let help = "begin these comments and docstrings with their subject, as CONTRIBUTING.md (\"How we write\") shows";
    assert!(found.is_empty(), "{help}:\n{}", found.join("\n"));
}

/// Returns the name of the crate that a source file belongs to.
fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// Returns the sum of counts of each crate.
fn sums(counts: &BTreeMap<String, usize>) -> BTreeMap<&str, usize> {
    let mut sums = BTreeMap::new();
    for (path, count) in counts {
        *sums.entry(crate_of(path)).or_default() += count;
    }
    sums
}

#[test]
fn comments_of_a_crate_get_no_more_such_sentences() {
    let sources = files_below("crates", "rs");
    let found: BTreeMap<String, Vec<(usize, String)>> = sources
        .into_iter()
        .map(|path| {
            let lines = refused(&comments_of_source(&read(&path)));
            (path, lines)
        })
        .filter(|(_, lines)| !lines.is_empty())
        .collect();
    let counts: BTreeMap<String, usize> = found.iter().map(|(path, lines)| (path.clone(), lines.len())).collect();
    let pinned: BTreeMap<String, usize> = read(COUNTS)
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (count, path) = line.split_once(' ').expect("a count and a path");
            (path.to_owned(), count.parse().expect("a count"))
        })
        .collect();
    let (sums, allowed) = (sums(&counts), sums(&pinned));
    let mut wrong = Vec::new();
    for (name, sum) in &sums {
        let most = allowed.get(name).copied().unwrap_or_default();
        if *sum <= most {
            continue;
        }
        wrong.push(format!("{name} has {sum} such sentences and may have {most} (code that moves to another crate takes its line of {COUNTS} along):"));
        for (path, lines) in found.iter().filter(|(path, _)| crate_of(path) == *name) {
            if lines.len() > pinned.get(path).copied().unwrap_or_default() {
                wrong.extend(lines.iter().map(|(line, sentence)| format!("{path}:{line}: {sentence}")));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "begin sentences with their subject, doc comments with \"Returns\" or \"True if\":\n{}",
        wrong.join("\n")
    );
    let renew = "UPDATE=1 cargo test --workspace --test it words::";
    if env::var("UPDATE").is_ok_and(|value| value == "1") {
        let lines: String = counts.iter().map(|(path, count)| format!("{count} {path}\n")).collect();
        let head = format!(
            "# Sentences in comments that begin with a refused word; a crate may only get fewer. Renewed by {renew}\n"
        );
        fs::write(repository().join(COUNTS), head + &lines).expect("written");
    } else if sums != allowed {
        // Only a hint: branches that mend comments side by side would fail at each other's files.
        #[expect(clippy::print_stderr, reason = "a hint for the person who runs the test")]
        {
            eprintln!("{COUNTS} allows more sentences than there are: renew it with {renew}");
        }
    }
}

/// Returns the strings of a Rust file that are texts, with their lines: the reasons of a `Refusal`, messages, notes.
/// Comments and the module of tests at the end are left out.
fn texts_of_source(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut texts = Vec::new();
    let mut signs = source.chars().peekable();
    let (mut line, mut before) = (1, ' ');
    while let Some(sign) = signs.next() {
        match sign {
            '\n' => line += 1,
            '/' if signs.peek() == Some(&'/') => while signs.next_if(|sign| *sign != '\n').is_some() {},
            // `r#"…"#`
            '"' if before == '#' => {
                let mut last = ' ';
                for sign in signs.by_ref().take_while(|sign| {
                    let is_end = last == '"' && *sign == '#';
                    last = *sign;
                    !is_end
                }) {
                    line += usize::from(sign == '\n');
                }
            }
            // `'"'` and `b'"'` open no string.
            '"' if before != '\'' => {
                let (first_line, mut text) = (line, String::new());
                while let Some(sign) = signs.next().filter(|sign| *sign != '"') {
                    match sign {
                        '\\' if signs.next_if_eq(&'\n').is_some() => {
                            line += 1;
                            while signs.next_if(|sign| *sign == ' ').is_some() {}
                        }
                        '\\' => text.extend(signs.next().map(|_| ' ')),
                        sign => {
                            line += usize::from(sign == '\n');
                            text.push(sign);
                        }
                    }
                }
                if text.split_whitespace().count() >= LEAST_WORDS {
                    texts.push((first_line, text));
                }
            }
            _ => {}
        }
        before = sign;
    }
    texts
}

/// Returns the complaint about a text for users, if it begins with a refused word or has a riddle.
fn riddle(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    if NAMES_IN_TEXTS.contains(&lower.as_str()) {
        return None;
    }
    if let Some(word) = REFUSED.iter().find(|word| begins_with(&lower, &word.to_lowercase())) {
        return Some(format!("begins with \"{word}\""));
    }
    let has_phrase = |phrase: &str| {
        lower.match_indices(phrase).any(|(start, _)| {
            let is_letter = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
            !is_letter(lower[..start].chars().next_back()) && !is_letter(lower[start + phrase.len()..].chars().next())
        })
    };
    let (phrase, instead) = RIDDLES.into_iter().find(|(phrase, _)| has_phrase(phrase))?;
    Some(format!("\"{phrase}\": write \"{instead}\" or the like"))
}

#[test]
fn texts_for_users_name_their_subject() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for path in files_below("crates", "rs") {
        if !path.contains("/src/") || path.ends_with("/tests.rs") || CRATES_WITHOUT_TEXTS.contains(&crate_of(&path)) {
            continue;
        }
        let source = read(&path);
        let mut texts = texts_of_source(&source);
        if HELP_TEXTS.contains(&path.as_str()) {
            let comments = comments_of_source(&source).into_iter();
            texts.extend(comments.filter(|comment| comment.is_doc).map(|comment| (comment.line, comment.text)));
        }
        count += texts.len();
        for (line, text) in texts {
            wrong.extend(riddle(&text).map(|complaint| format!("{path}:{line}: {text}: {complaint}")));
        }
    }
    assert!(count > 1000, "only {count} texts were found");
    assert!(wrong.is_empty(), "name the call, its result or the code that acts:\n{}", wrong.join("\n"));
}

#[test]
fn riddles_are_found_in_strings() {
    let source = "// \"it stands in a text\"\nf(\"the call is\\\n   in a text\", '\"', \"it stands in a text\");\n";
    let texts = texts_of_source(source);
    assert_eq!(texts, [(2, "the call isin a text".to_owned()), (3, "it stands in a text".to_owned())]);
    assert_eq!(riddle(&texts[0].1), None);
    assert!(riddle(&texts[1].1).is_some() && riddle("what it gives is awaited").is_some());
    assert_eq!(riddle("somewhat itself"), None);
}

#[test]
fn questions_code_and_other_words_are_allowed() {
    let text = "# What is found?\n\n```sh\nWhat\n```\n\nWhatsoever. It says what it is; what follows is small.\n\n- **Who?** All.\n";
    assert_eq!(refused(&paragraphs_of_document(text)), []);
    assert_eq!(refused(&comments_of_source("let a = 1; // What\n/// Returns what it is.\n/// Same here.\n")), []);
}

#[test]
fn each_kind_of_text_is_read() {
    let text = "# Who calls\n\nOne. What two\nlines have.\n\n1. **Whether** so\n\n| a | What b |\n";
    let lines: Vec<usize> = refused(&paragraphs_of_document(text)).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [1, 3, 6, 8]);
    let source =
        "//! What it does.\n\n/// The same, twice.\nfn a() {\n    // Fine.\n    // Who asks.\n    // The same.\n}\n";
    let lines: Vec<usize> = refused(&comments_of_source(source)).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [1, 3, 5]);
    let python = "\"\"\"What it does.\"\"\"\n\nTEXT = \"\"\"\nWhat\n\"\"\"\n\ndef a():\n    \"\"\"The same, twice.\n\n    \
                  Who asks.\n    \"\"\"\n    # Whether so.\n    b = 1  # What\n";
    let lines: Vec<usize> = refused(&comments_of_python(python)).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [1, 8, 10, 12]);
}
