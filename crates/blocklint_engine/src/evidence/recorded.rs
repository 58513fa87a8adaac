//! Records that `pytest --blocklint-evidence` wrote (docs/evidence.md has the form).

use serde::Deserialize;

use super::{Frame, MOST_FRAMES, Stall, name};

/// The form that is written today.
const VERSION: u32 = 1;

/// A reader of an older form ignores keys that it does not know.
#[derive(Deserialize)]
struct File {
    blocklint_evidence: u32,
    stalls: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    seconds: f64,
    #[serde(default)]
    test: Option<String>,
    samples: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    /// For how much of the stall the stack was so.
    seconds: f64,
    /// Outermost first.
    stack: Vec<Called>,
}

#[derive(Deserialize)]
struct Called {
    file: String,
    line: u32,
    function: String,
}

/// Reads the file; what is wrong with it begins with `LINE:COLUMN: `, or with a space.
pub(super) fn parse(text: &str) -> Result<Vec<Stall>, String> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        // serde_json ends its message with the place, which stands in front here.
        let why = why.rfind(" at line ").map_or(why.as_str(), |end| &why[..end]);
        format!("{}:{}: {why}", error.line(), error.column())
    })?;
    if file.blocklint_evidence != VERSION {
        return Err(format!(
            " evidence of form {}; this blocklint reads form {VERSION}: install the version that wrote it",
            file.blocklint_evidence
        ));
    }
    let mut stalls = Vec::new();
    for (at, recorded) in file.stalls.into_iter().enumerate() {
        let is_time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        if !is_time(recorded.seconds) || !recorded.samples.iter().all(|sample| is_time(sample.seconds)) {
            return Err(format!(" `stalls[{at}]`: `seconds` is a number from 0"));
        }
        let test = recorded.test.as_deref().map(name);
        // Of a stall in which several calls held the thread, each held it for its own share.
        for sample in recorded.samples {
            let frames = sample.stack.into_iter().take(MOST_FRAMES).map(|called| Frame {
                path: called.file,
                line: Some(called.line),
                function: name(&called.function),
            });
            let seconds = Some(sample.seconds.min(recorded.seconds));
            stalls.push(Stall { frames: frames.collect(), seconds, times: 1, test: test.clone() });
        }
    }
    Ok(stalls)
}
