//! Random edits of real services in three languages: the early findings of a changed file are those of a full analysis,
//! and an edited session finds the same as one that is opened anew.

use std::fs;
use std::path::Path;

use crate::support::Project;

fn copy(from: &Path, below: &str, project: &Project) {
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        let inside = format!("{below}/{}", entry.file_name().to_string_lossy());
        let is_source =
            path.extension().is_some_and(|extension| ["py", "rs", "java"].into_iter().any(|one| extension == one));
        if path.is_dir() {
            copy(&path, &inside, project);
        } else if is_source {
            project.write(&inside, &fs::read_to_string(&path).expect("text"));
        }
    }
}

#[test]
fn early_findings_of_random_edits_are_those_of_a_full_analysis() {
    let project = Project::new(&[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    copy(&root.join("examples/incidents"), "incidents", &project);
    copy(&root.join("tests/proof"), "proof", &project);
    let run = project.run(&["debug", "edits", ".", "--edits", "120", "--seed", "3"]);
    let line = run.out.lines().last().unwrap_or_default();
    let found = line.split(" findings)").next().and_then(|line| line.rsplit('(').next()?.parse::<u32>().ok());
    assert!(found.is_some_and(|found| found > 40), "{}\n{}", run.out, run.err);
    assert_eq!(run.code, Some(0), "{}", run.out);
}
