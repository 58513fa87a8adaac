use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub struct Store {
    pub folder: PathBuf,
}

impl Store {
    /// Reads the file of a name; a pipe is read until its writer ends.
    pub fn load(&self, name: &str) -> io::Result<String> {
        let text = read(&self.folder.join(name))?;
        Ok(text.trim().to_owned())
    }

    pub fn note(&self, name: &str, text: impl AsRef<[u8]>) -> io::Result<()> {
        let noted = self.folder.join("noted");
        fs::create_dir_all(&noted)?;
        fs::write(noted.join(name), text)
    }
}

fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_folder(name: &str) -> Store {
        Store { folder: std::env::temp_dir().join(format!("chains-{}-{name}", std::process::id())) }
    }

    /// Becomes async together with its callees.
    fn noted(store: &Store, text: &str) -> String {
        store.note("a", text).unwrap();
        read(&store.folder.join("noted").join("a")).unwrap()
    }

    #[test]
    fn notes() {
        let store = in_folder("notes");
        assert_eq!(noted(&store, "kept"), "kept", "and not {}", noted(&store, "other"));
    }

    #[test]
    fn loads() -> io::Result<()> {
        let store = in_folder("loads");
        store.note("b", "text\n")?;
        assert!(!(store.load("noted/b")? != "text"));
        Ok(())
    }

    #[test]
    #[should_panic(expected = "NotFound")]
    fn misses() {
        let store = in_folder("misses");
        println!("{}", store.load("none").unwrap());
    }
}
