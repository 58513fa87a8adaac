//! Settings of a project's Python code that fixes obey: the oldest Python version (`requires-python`), and the format
//! settings of ruff and black.

use camino::Utf8Path;
use toml::de::{DeTable, DeValue};

use crate::within::read_text_within;

/// The settings of a formatter; `None` where a setting is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormatSettings {
    /// The greatest width of a line, in columns.
    pub width: Option<u16>,
    /// The width of one level of indentation, in columns.
    pub indent: Option<u8>,
    /// `tab` or `space`.
    pub indent_style: Option<String>,
    /// `double`, `single` or `preserve`.
    pub quotes: Option<String>,
    /// True if a trailing comma does not keep a list on several lines.
    pub skip_magic_trailing_comma: bool,
    /// True if the formatter's preview style is on.
    pub preview: bool,
}

/// Returns the oldest Python version (major, minor) that the nearest manifest at or above a folder allows, up to the
/// project root.
pub fn oldest_python(folder: &Utf8Path, root: &Utf8Path) -> Option<(u8, u8)> {
    folder.ancestors().take_while(|folder| folder.starts_with(root)).find_map(|folder| oldest_in_folder(folder, root))
}

/// Returns the format settings of the nearest configuration of ruff or black at or above a file, up to the project
/// root.
pub fn format_settings(file: &Utf8Path, root: &Utf8Path) -> FormatSettings {
    let mut folders = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    folders.find_map(|folder| format_in_folder(folder, root)).unwrap_or_default()
}

fn oldest_in_folder(folder: &Utf8Path, root: &Utf8Path) -> Option<(u8, u8)> {
    let text = |name: &str| read_text_within(&folder.join(name), root);
    let manifest = text("pyproject.toml");
    let range = manifest.as_deref().and_then(|text| {
        let table = DeTable::parse(text).ok()?;
        let table = table.get_ref();
        let range = value_at(table, &["project", "requires-python"])
            .or_else(|| value_at(table, &["tool", "poetry", "dependencies", "python"]));
        range.and_then(DeValue::as_str).and_then(lowest_version)
    });
    range
        .or_else(|| {
            let text = text("setup.cfg")?;
            let line = text.lines().find(|line| line.trim_start().starts_with("python_requires"))?;
            lowest_version(line.split_once('=')?.1)
        })
        .or_else(|| {
            let text = text("setup.py")?;
            let rest = text.split_once("python_requires")?.1;
            lowest_version(rest.split(['"', '\'']).nth(1)?)
        })
}

/// Returns the lowest version that a range allows: `>=3.8,<4`, `^3.9`, `~=3.8`, `3.10.*`.
fn lowest_version(range: &str) -> Option<(u8, u8)> {
    let bounds = range.split([',', ' ', '|']).filter_map(|part| {
        let part = part.trim();
        if part.starts_with('<') || part.starts_with('!') {
            return None;
        }
        // A space may be between operator and number.
        let number = part.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mut parts = number.split('.');
        let major: u8 = parts.next()?.parse().ok()?;
        let minor = parts.next().map_or(Some(0), |minor| match minor {
            "*" => Some(0),
            // `>3.8` allows 3.8.1.
            minor => minor.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok(),
        })?;
        Some((major, minor))
    });
    // The lowest number of all bounds and alternatives (`|`) is safe.
    bounds.min()
}

fn format_in_folder(folder: &Utf8Path, root: &Utf8Path) -> Option<FormatSettings> {
    for (name, prefix) in [(".ruff.toml", &[][..]), ("ruff.toml", &[]), ("pyproject.toml", &["tool", "ruff"])] {
        let Some(text) = read_text_within(&folder.join(name), root) else { continue };
        let Ok(table) = DeTable::parse(&text) else { continue };
        if let Some(ruff) = table_at(table.get_ref(), prefix)
            // A file without these keys may be one that others extend.
            && (ruff.keys().any(|key| matches!(key.get_ref().as_ref(), "line-length" | "format" | "indent-width")))
        {
            return Some(ruff_settings(ruff));
        }
        if let Some(black) =
            table_at(table.get_ref(), &"tool.black".split('.').collect::<Vec<_>>()).filter(|_| name == "pyproject.toml")
        {
            return Some(black_settings(black));
        }
        if table_at(table.get_ref(), prefix).is_some() {
            return Some(FormatSettings::default());
        }
    }
    None
}

fn ruff_settings(ruff: &DeTable<'_>) -> FormatSettings {
    let format = |key: &str| value_at(ruff, &["format", key]);
    let preview = format("preview").or_else(|| value_at(ruff, &["preview"]));
    FormatSettings {
        width: value_at(ruff, &["line-length"]).and_then(integer),
        indent: value_at(ruff, &["indent-width"]).and_then(integer),
        indent_style: format("indent-style").and_then(DeValue::as_str).map(str::to_owned),
        quotes: format("quote-style").and_then(DeValue::as_str).map(str::to_owned),
        skip_magic_trailing_comma: format("skip-magic-trailing-comma").and_then(DeValue::as_bool).unwrap_or(false),
        preview: preview.and_then(DeValue::as_bool).unwrap_or(false),
    }
}

fn black_settings(black: &DeTable<'_>) -> FormatSettings {
    let is_on = |key: &str| value_at(black, &[key]).and_then(DeValue::as_bool).unwrap_or(false);
    FormatSettings {
        width: value_at(black, &["line-length"]).and_then(integer),
        quotes: is_on("skip-string-normalization").then(|| "preserve".to_owned()),
        skip_magic_trailing_comma: is_on("skip-magic-trailing-comma"),
        ..FormatSettings::default()
    }
}

fn integer<N: std::str::FromStr>(value: &DeValue<'_>) -> Option<N> {
    value.as_integer().and_then(|number| number.as_str().parse().ok())
}

fn table_at<'t, 'i>(table: &'t DeTable<'i>, keys: &[&str]) -> Option<&'t DeTable<'i>> {
    keys.iter().try_fold(table, |table, key| table.get(*key)?.get_ref().as_table())
}

fn value_at<'t, 'i>(table: &'t DeTable<'i>, keys: &[&str]) -> Option<&'t DeValue<'i>> {
    let (last, above) = keys.split_last()?;
    Some(table_at(table, above)?.get(*last)?.get_ref())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn lowest_version_reads_each_kind_of_range() {
        for (range, lowest) in [
            (">=3.8", Some((3, 8))),
            (">= 3.9, <4", Some((3, 9))),
            ("^3.10", Some((3, 10))),
            ("~=3.8.2", Some((3, 8))),
            (">3.7,!=3.9.0", Some((3, 7))),
            ("3.11.*", Some((3, 11))),
            ("==3.12.1", Some((3, 12))),
            ("<4", None),
            ("*", None),
        ] {
            assert_eq!(lowest_version(range), lowest, "{range}");
        }
    }

    #[test]
    fn the_nearest_manifest_decides() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("UTF-8");
        let inner = root.join("inner");
        fs::create_dir(&inner).expect("made");
        fs::write(root.join("setup.py"), "setup(name='a', python_requires='>=3.7')").expect("written");
        let ruff = "[tool.ruff]\nline-length = 100\n[tool.ruff.format]\nquote-style = \"single\"\n";
        fs::write(root.join("pyproject.toml"), ruff).expect("written");
        let file = inner.join("a.py");
        let format = format_settings(&file, &root);
        assert_eq!((oldest_python(&inner, &root), format.width), (Some((3, 7)), Some(100)));
        assert_eq!(format.quotes.as_deref(), Some("single"));
        let black = "[project]\nrequires-python = '>=3.9'\n[tool.black]\nskip-string-normalization = true\n";
        fs::write(inner.join("pyproject.toml"), black).expect("written");
        let format = format_settings(&file, &root);
        assert_eq!((oldest_python(&inner, &root), format.width), (Some((3, 9)), None));
        assert_eq!(format.quotes.as_deref(), Some("preserve"));
    }
}
