//! A run frees its memory, unless its process ends after it.

use std::sync::Arc;

use blocklint_core::Confidence;
use blocklint_engine::{Options, analyse, load_models};
use blocklint_project::{Request, discover};
use camino::Utf8PathBuf;

use crate::support::Project;

#[test]
fn a_run_leaves_no_program_behind() {
    let project = Project::new(&[("a.py", "import time\n\nasync def f():\n    time.sleep(1)\n")]);
    let root = Utf8PathBuf::from_path_buf(project.path()).expect("UTF-8");
    let paths = [root.clone()];
    let discovered = discover(Request { current: &root, paths: &paths, isolated: false }).expect("a project");
    let models = load_models(&discovered, &root).unwrap_or_else(|failure| panic!("{:?}", failure.lines));
    // A loaded program has a reference to the path of each file.
    let file = discovered.files.iter().find(|file| file.path.ends_with("a.py")).expect("the file");
    let held = |ends_process| {
        let before = Arc::strong_count(&file.path);
        let options = Options { ends_process, ..Options::new(Confidence::Medium) };
        let report = analyse(&discovered, &models, options).unwrap_or_else(|failure| panic!("{:?}", failure.lines));
        assert_eq!(report.findings.len(), 1);
        drop(report);
        Arc::strong_count(&file.path) - before
    };
    assert_eq!(held(false), 0, "freed");
    assert!(held(true) > 0, "left to the end of the process, which shows that the test would see it");
}
