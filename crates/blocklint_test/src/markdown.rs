//! Parses a Markdown document of fixtures into projects, one for each section with code.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::specified::parse_specified_files;
use crate::{Options, Problem, Project, ProjectFile, Snapshot, SpecifiedFile, project::Source};

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The projects of its sections.
    pub projects: Vec<Project>,
    /// Mistakes in the form of the document that belong to no project.
    pub problems: Vec<Problem>,
    /// The source files that it specifies.
    pub specifies: Vec<SpecifiedFile>,
}

/// Parses a document. Messages and names of tests begin with `path`.
pub fn parse_document(path: &Utf8Path, text: &str) -> Document {
    let mut reader = Reader { path, sections: vec![Section::default()], problems: Vec::new() };
    reader.read(text);
    let (projects, problems) = reader.finish();
    Document { projects, problems, specifies: parse_specified_files(text) }
}

/// A heading with the blocks under it, up to the next heading.
#[derive(Default)]
struct Section {
    /// The level of the heading; 0 for blocks above the first heading.
    level: usize,
    title: String,
    line: u32,
    blocks: Vec<Block>,
    /// True if deeper sections follow.
    has_subsections: bool,
}

/// A fenced block of code.
struct Block {
    language: String,
    name: Option<String>,
    text: String,
    /// The line of the document in which the text begins.
    line: u32,
}

/// The state of the parser.
struct Reader<'a> {
    path: &'a Utf8Path,
    sections: Vec<Section>,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn add_problem(&mut self, line: u32, message: String) {
        self.problems.push(Problem { path: self.path.to_owned(), line, message });
    }

    fn read(&mut self, text: &str) {
        let mut lines = (1..).zip(text.lines());
        // The last line of prose, which may be the name of the next block.
        let mut previous_line = "";
        while let Some((row, line)) = lines.next() {
            if let Some(fence) = Fence::parse(line) {
                let name = previous_line.strip_prefix('`').and_then(|rest| rest.strip_suffix("`:")).map(str::to_owned);
                let mut block = Block { language: fence.language, name, text: String::new(), line: row + 1 };
                let mut closed = false;
                for (_, line) in lines.by_ref() {
                    if fence.mark.is_closed_by(line) {
                        closed = true;
                        break;
                    }
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                if !closed {
                    self.add_problem(row, "this block is not closed".to_owned());
                }
                if let Some(section) = self.sections.last_mut() {
                    section.blocks.push(block);
                }
                previous_line = "";
            } else if let Some((level, title)) = parse_heading(line) {
                if let Some(last) = self.sections.last_mut() {
                    last.has_subsections = level > last.level;
                }
                self.sections.push(Section { level, title, line: row, ..Section::default() });
                previous_line = "";
            } else if !line.trim().is_empty() {
                previous_line = line.trim();
            }
        }
    }

    fn finish(mut self) -> (Vec<Project>, Vec<Problem>) {
        let sections = std::mem::take(&mut self.sections);
        let mut projects: Vec<Project> = Vec::new();
        // The sections that contain the current one: level, title and options.
        let mut ancestors: Vec<(usize, String, Options)> = Vec::new();
        for section in sections {
            ancestors.retain(|(level, ..)| *level < section.level);
            let outer = ancestors.last().map(|(.., options)| options.clone()).unwrap_or_default();
            let title = section.title.clone();
            let level = section.level;
            let mut project = self.build_project(section, outer);
            let titles = ancestors.iter().map(|(_, title, _)| title).chain([&title]);
            // The title of the document is left out of test names, because they begin with its path.
            let is_below_title = ancestors.iter().any(|(level, ..)| *level == 1);
            let titles = titles.filter(|title| !title.is_empty()).skip(usize::from(is_below_title)).map(String::as_str);
            project.name = [self.path.as_str()].into_iter().chain(titles).collect::<Vec<_>>().join(" - ");
            ancestors.push((level, title, project.options.clone()));
            if project.files.is_empty() && project.snapshot.is_none() && project.fix.is_none() {
                self.problems.append(&mut project.problems);
                continue;
            }
            if let Some(twin) = projects.iter().find(|earlier| earlier.name == project.name) {
                let message = format!("the section at line {} has the same headings", twin.line);
                self.add_problem(project.line, message);
            }
            projects.push(project);
        }
        if projects.is_empty() {
            self.add_problem(1, "this document has no section with code".to_owned());
        }
        (projects, self.problems)
    }

    fn build_project(&mut self, section: Section, options: Options) -> Project {
        let mut project =
            Project { options, origin: self.path.to_owned(), line: section.line.max(1), ..Project::default() };
        let has_subsections = section.has_subsections;
        for block in section.blocks {
            let line = block.line - 1;
            let mut add_problem = |message: String| {
                project.problems.push(Problem { path: self.path.to_owned(), line, message });
            };
            if block.name.is_none() && block.language == "toml" {
                match project.options.with_toml(&block.text) {
                    Ok(options) => project.options = options,
                    Err(message) => add_problem(message),
                }
                continue;
            }
            let path = match (&block.name, block.language.as_str()) {
                (Some(name), _) => Utf8PathBuf::from(name),
                (None, "py" | "python") => "main.py".into(),
                (None, "rs" | "rust") => "src/main.rs".into(),
                (None, "java") => "Main.java".into(),
                (None, "fix" | "snapshot") => Utf8PathBuf::new(),
                // A language without files, such as `text` or `sh`, is prose.
                (None, _) => continue,
            };
            if has_subsections {
                add_problem(
                    "a section with sections below it holds no code: give this block a heading of its own".to_owned(),
                );
                continue;
            }
            match (&block.name, block.language.as_str()) {
                (None, "fix") if project.fix.is_some() => add_problem("a second `fix` block in one section".to_owned()),
                (None, "fix") => project.fix = Some(Snapshot { text: block.text, line: block.line }),
                (None, "snapshot") if project.snapshot.is_some() => {
                    add_problem("a second snapshot in one section".to_owned())
                }
                (None, "snapshot") => project.snapshot = Some(Snapshot { text: block.text, line: block.line }),
                _ if !is_inside(&path) => add_problem(format!("`{path}` does not lie in the project")),
                _ => {
                    if let Err(message) = self.add_file(&mut project.files, path, block) {
                        project.problems.push(Problem { path: self.path.to_owned(), line, message });
                    }
                }
            }
        }
        project
    }

    /// Adds a block as a new file, or appends it to the file of the unnamed blocks of its language.
    fn add_file(&self, files: &mut Vec<ProjectFile>, path: Utf8PathBuf, block: Block) -> Result<(), String> {
        let source = |row| Source { path: self.path.to_owned(), blocks: vec![(row, block.line)] };
        let Some(file) = files.iter_mut().find(|file| file.path == path) else {
            files.push(ProjectFile { path, contents: block.text.into_bytes(), source: source(1) });
            return Ok(());
        };
        if block.name.is_some() {
            return Err(format!("`{path}` stands in this section already"));
        }
        let rows = file.contents.iter().filter(|byte| **byte == b'\n').count();
        file.source.blocks.push((rows as u32 + 1, block.line));
        file.contents.extend(block.text.into_bytes());
        Ok(())
    }
}

/// The characters that open and close a fenced block: three or more backticks or tildes.
struct Mark {
    sign: char,
    count: usize,
}

/// The line that opens a fenced block.
struct Fence {
    mark: Mark,
    /// The first word after the mark, in lower case.
    language: String,
}

impl Fence {
    fn parse(line: &str) -> Option<Fence> {
        let text = line.trim_start_matches(' ');
        let sign = text.chars().next().filter(|sign| line.len() - text.len() <= 3 && matches!(sign, '`' | '~'))?;
        let info = text.trim_start_matches(sign);
        let count = text.len() - info.len();
        if count < 3 || (sign == '`' && info.contains('`')) {
            return None;
        }
        let language = info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        Some(Fence { mark: Mark { sign, count }, language })
    }
}

impl Mark {
    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.chars().all(|c| c == self.sign) && text.len() >= self.count
    }
}

/// Returns the level and title of a heading.
fn parse_heading(line: &str) -> Option<(usize, String)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let is_heading = (1..=6).contains(&level) && title.starts_with(' ');
    is_heading.then(|| (level, title.trim().replace('`', "")))
}

/// True if a path stays below the folder that it is joined to: it is relative and has no `..`.
fn is_inside(path: &Utf8Path) -> bool {
    !path.as_str().is_empty() && path.components().all(|part| matches!(part, Utf8Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use blocklint_core::Confidence;

    use super::*;

    fn parse(text: &str) -> Document {
        parse_document(Utf8Path::new("a.md"), text)
    }

    fn file(project: &Project, path: &str) -> String {
        let file = project.files.iter().find(|file| file.path == path).expect(path);
        String::from_utf8_lossy(&file.contents).into_owned()
    }

    #[test]
    fn each_section_without_sections_is_a_project() {
        let text = "# T\n\nprose\n\n## One\n\n```py\na()\n```\n\n## Two\n\n### `Deep`\n\n```py\nb()\n```\n";
        let document = parse(text);
        assert_eq!(document.problems, []);
        let names: Vec<_> = document.projects.iter().map(|p| (p.name.as_str(), p.line)).collect();
        assert_eq!(names, [("a.md - One", 5), ("a.md - Two - Deep", 13)]);
    }

    #[test]
    fn a_document_may_be_one_project() {
        let document = parse("# Title\n```java\nclass A {}\n```\n");
        assert_eq!(document.projects[0].name, "a.md - Title");
        assert_eq!(file(&document.projects[0], "Main.java"), "class A {}\n");
        assert_eq!(parse("```rs\nx\n```").projects[0].name, "a.md");
    }

    #[test]
    fn unnamed_blocks_of_a_language_continue_one_file() {
        let document = parse("# T\n```py\na()\nb()\n```\nprose\n```rs\nx\n```\n```python\nc()\n```\n");
        let project = &document.projects[0];
        assert_eq!(file(project, "main.py"), "a()\nb()\nc()\n");
        assert_eq!(file(project, "src/main.rs"), "x\n");
        assert_eq!(project.files[0].source.line(3), 11);
    }

    #[test]
    fn names_make_files_of_any_language() {
        let document =
            parse("`a/b.py`:\n```py\n```\n\n`pyproject.toml`:\n\n```toml\n[x]\n```\n\n````text\n```\n````\n");
        let paths: Vec<_> = document.projects[0].files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a/b.py", "pyproject.toml"]);
        assert_eq!(document.problems, []);
    }

    #[test]
    fn options_are_inherited() {
        let text = "# T\n```toml\nmin-confidence = \"low\"\n```\n## A\n```py\n```\n## B\n```toml\n\
                    min-confidence = \"high\"\n```\n```py\n```\n## C\n```py\n```\n";
        let document = parse(text);
        let levels: Vec<_> = document.projects.iter().map(|p| p.options.min_confidence).collect();
        assert_eq!(levels, [Confidence::Low, Confidence::High, Confidence::Low]);
    }

    #[test]
    fn code_above_deeper_sections_is_a_problem() {
        let document = parse("# T\n## A\n```py\n```\n### B\n```py\n```\n");
        assert_eq!(document.problems.len(), 1);
        assert_eq!(document.problems[0].line, 3);
    }

    #[test]
    fn problems_have_the_line_of_their_cause() {
        for (text, line, part) in [
            ("# T\nprose\n", 1, "no section with code"),
            ("# T\n```py\n", 2, "not closed"),
            ("# T\n## A\n```py\n```\n## A\n```py\n```\n", 5, "same headings"),
            ("# T\n`a.py`:\n```py\n```\n`a.py`:\n```py\n```\n", 6, "already"),
            ("# T\n`../a.py`:\n```py\n```\n```py\n```\n", 3, "does not lie"),
            ("# T\n```toml\nx = 1\n```\n```py\n```\n", 2, "unknown option"),
        ] {
            let document = parse(text);
            let section_problems = document.projects.iter().flat_map(|project| &project.problems);
            let is_reported =
                document.problems.iter().chain(section_problems).any(|p| p.line == line && p.message.contains(part));
            assert!(is_reported, "{text}: {document:?}");
        }
    }

    #[test]
    fn pinned_blocks_are_kept_with_their_lines() {
        let document = parse("# T\n```py\n```\n```snapshot\nout\n```\n```fix\n```\n");
        let project = &document.projects[0];
        assert_eq!(project.snapshot, Some(Snapshot { text: "out\n".to_owned(), line: 5 }));
        assert_eq!(project.fix, Some(Snapshot { text: String::new(), line: 8 }));
    }
}
