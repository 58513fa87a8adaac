//! Finds commands with their options, and settings, in files that start programs (Procfile, Dockerfile, shell scripts).
//!
//! No command is run. A line is split into words roughly as a shell does. Values of variables are unknown, except for
//! defaults (`${WORKERS:-gevent}`).

use std::ffi::OsStr;

/// A command with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The last part of its path, or the name of a variable with its options (`GUNICORN_CMD_ARGS`).
    pub name: String,
    /// Its arguments.
    pub words: Vec<String>,
}

impl Command {
    /// Returns the value of an option: `-k gevent`, `-kgevent` or `--worker-class=gevent`.
    pub fn option(&self, spelling: &str) -> Option<&str> {
        for (index, word) in self.words.iter().enumerate() {
            if word == spelling {
                return self.words.get(index + 1).map(String::as_str);
            }
            if let Some(rest) = word.strip_prefix(spelling) {
                if let Some(value) = rest.strip_prefix('=') {
                    return Some(value);
                }
                if !spelling.starts_with("--") && spelling.len() == 2 {
                    return Some(rest);
                }
            }
        }
        None
    }
}

/// True if a file with this name is a launch file.
pub(crate) fn is_launch(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let lower = name.to_ascii_lowercase();
    let compose = lower.starts_with("docker-compose") || lower.starts_with("compose");
    let yaml = lower.ends_with(".yml") || lower.ends_with(".yaml");
    lower == "procfile"
        || lower.starts_with("procfile.")
        || lower.contains("dockerfile")
        || lower.ends_with(".dockerfile")
        || compose && yaml
        || lower.ends_with(".sh")
        || lower.ends_with(".service")
        || matches!(lower.as_str(), "supervisord.conf" | "makefile" | "justfile" | "entrypoint" | "run" | "start")
}

/// Returns the commands in a text whose names `is_name` accepts, with their arguments.
pub fn find_commands(text: &str, is_name: &dyn Fn(&str) -> bool) -> Vec<Command> {
    let mut commands = Vec::new();
    for line in logical_lines(text) {
        collect_commands(&split_words(&line), is_name, 3, &mut commands);
    }
    commands
}

/// Adds the commands among the words of a line. A quoted word with several words is searched too (`sh -c "…"`), at most
/// `depth` levels deep.
fn collect_commands(words: &[String], is_name: &dyn Fn(&str) -> bool, depth: u32, commands: &mut Vec<Command>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for (index, word) in words.iter().enumerate() {
        let rest = || words[index + 1..].iter().take_while(|word| !is_end(word)).cloned();
        // `NAME=--options`, `NAME: --options`, `ENV NAME --options`, `ExecStart=/usr/bin/name --options`.
        let assigned = word.split_once('=').filter(|(name, _)| !name.starts_with('-') && !name.contains(' '));
        let (name, value) = match assigned {
            Some((name, value)) => (name, Some(value)),
            None => (word.trim_end_matches(':'), None),
        };
        let last_part = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        if is_name(&last_part(name)) {
            let mut arguments: Vec<String> = value.map(split_words).unwrap_or_default();
            arguments.extend(
                rest()
                    .flat_map(|word| if word.contains(char::is_whitespace) { split_words(&word) } else { vec![word] }),
            );
            commands.push(Command { name: last_part(name), words: arguments });
        } else if let Some(value) = value {
            let mut line = split_words(value);
            line.extend(rest());
            if line.first().is_some_and(|first| is_name(&last_part(first))) {
                commands.push(Command { name: last_part(&line[0]), words: line.split_off(1) });
            } else if value.contains(char::is_whitespace) {
                collect_commands(&split_words(value), is_name, depth, commands);
            }
        } else if word.contains(char::is_whitespace) {
            collect_commands(&split_words(word), is_name, depth, commands);
        }
    }
}

/// Returns the values of a key in the lines of a text: `worker_class = "gevent"`, `worker_class: gevent`. If the value
/// has several quoted texts, all of them are returned (`os.environ.get("CLASS", "gevent")`).
pub fn find_settings(text: &str, key: &str) -> Vec<String> {
    let mut values = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix(key) else { continue };
        let rest = rest.trim_start();
        let Some(value) = rest.strip_prefix('=').or_else(|| rest.strip_prefix(':')) else { continue };
        let value = value.split('#').next().unwrap_or(value).trim();
        let mut quoted = value.split(['"', '\'']).skip(1).step_by(2).map(str::to_owned).peekable();
        match quoted.peek() {
            Some(_) => values.extend(quoted),
            None => values.push(value.to_owned()),
        }
    }
    values
}

fn is_end(word: &str) -> bool {
    matches!(word, "&&" | "||" | ";" | "|" | "&")
}

/// Returns the lines of a text, joined with their continuations and without comments. Items of a YAML list are joined
/// with the line before, because compose files can write a command as a list.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut continued = false;
    for raw in text.lines() {
        let line = raw.trim();
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        let (line, is_continued) = match line.strip_suffix('\\') {
            Some(line) => (line.trim_end(), true),
            None => (line, false),
        };
        let item = line.strip_prefix("- ");
        match lines.last_mut() {
            Some(last) if continued => {
                last.push(' ');
                last.push_str(line);
            }
            Some(last) if item.is_some_and(|item| !item.contains(": ")) => {
                last.push(' ');
                last.push_str(item.unwrap_or(line));
            }
            // A value on the lines after its key (`command: >`).
            Some(last) if last.ends_with(": >") || last.ends_with(": |") || last.ends_with(": >-") => {
                last.push(' ');
                last.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
        continued = is_continued;
    }
    lines
}

/// Splits a line into words at white space, commas and brackets; quotes join them. `${NAME:-value}` is replaced by
/// `value`.
fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut started = false;
    let line = fill_defaults(line);
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                started = true;
            }
            None if c.is_whitespace() || matches!(c, ',' | '[' | ']' | ';') => {
                if started || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                started = false;
                if c == ';' {
                    words.push(";".to_owned());
                }
            }
            None => word.push(c),
        }
    }
    if started || !word.is_empty() {
        words.push(word);
    }
    words
}

/// Replaces `${NAME:-value}` and `${NAME-value}` by the value.
fn fill_defaults(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find("${") {
        text.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        let Some(end) = inside.find('}') else {
            rest = &rest[start..];
            break;
        };
        if let Some((_, value)) = inside[..end].split_once('-') {
            text.push_str(value);
        } else {
            text.push('$');
        }
        rest = &inside[end + 1..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker_class(text: &str) -> Option<String> {
        let is_name = |name: &str| name == "gunicorn" || name == "GUNICORN_CMD_ARGS";
        find_commands(text, &is_name)
            .iter()
            .find_map(|command| command.option("-k").or_else(|| command.option("--worker-class")).map(str::to_owned))
    }

    #[test]
    fn an_option_is_found_in_every_kind_of_file() {
        for text in [
            "web: gunicorn -k gevent app:app",
            "CMD [\"gunicorn\", \"-k\", \"gevent\", \"app:app\"]",
            "CMD [\"sh\", \"-c\", \"gunicorn --worker-class=gevent app:app\"]",
            "exec /opt/venv/bin/gunicorn \\\n    --bind 0.0.0.0:80 \\\n    --worker-class gevent app:app",
            "    command: >\n      gunicorn -kgevent app:app",
            "    command:\n      - gunicorn\n      - -k\n      - gevent",
            "ExecStart=/usr/bin/gunicorn -k gevent app:app",
            "ENV GUNICORN_CMD_ARGS=\"--worker-class gevent --workers 2\"",
            "      GUNICORN_CMD_ARGS: \"-k gevent\"",
            "gunicorn -k ${WORKER:-gevent} app:app",
            "alembic upgrade head && gunicorn -k gevent app:app",
        ] {
            assert_eq!(worker_class(text).as_deref(), Some("gevent"), "{text}");
        }
    }

    #[test]
    fn other_commands_and_comments_are_ignored() {
        assert_eq!(worker_class("# gunicorn -k gevent"), None);
        assert_eq!(worker_class("gunicorn app:app && celery -k gevent"), None);
        assert_eq!(
            worker_class("web: gunicorn -k uvicorn.workers.UvicornWorker app:app").as_deref(),
            Some("uvicorn.workers.UvicornWorker")
        );
    }

    #[test]
    fn settings_include_the_defaults_of_variables() {
        assert_eq!(find_settings("worker_class = \"gevent\"  # cooperative", "worker_class"), ["gevent"]);
        let from_environment = "worker_class = os.environ.get('CLASS', 'gevent')";
        assert_eq!(find_settings(from_environment, "worker_class"), ["CLASS", "gevent"]);
        assert_eq!(find_settings("worker_connections = 10", "worker_class"), [] as [&str; 0]);
    }
}
