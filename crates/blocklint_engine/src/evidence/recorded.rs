//! Parses the stalls that `pytest --blocklint-evidence` records as JSON (docs/evidence.md describes the format).

use serde::Deserialize;

use super::{Frame, MAX_FRAMES, Stall, clean_name};

/// The version of the format. Files of another version are refused.
const VERSION: u32 = 1;

/// Unknown keys are ignored, so that a later blocklint can add keys.
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
    /// The time in seconds for which the thread had this stack.
    seconds: f64,
    /// The frames, outermost first.
    stack: Vec<Called>,
}

#[derive(Deserialize)]
struct Called {
    file: String,
    line: u32,
    function: String,
}

/// Parses the file. An error begins with `LINE:COLUMN: `, or with a space if there is no place.
pub(super) fn parse(text: &str) -> Result<Vec<Stall>, String> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        // The place at the end of serde_json's message is cut off, because our message begins with it.
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
        let test = recorded.test.as_deref().map(clean_name);
        // If several calls held the thread during one stall, each gets its own share of the time.
        for sample in recorded.samples {
            let frames = sample.stack.into_iter().take(MAX_FRAMES).map(|called| Frame {
                path: called.file,
                line: Some(called.line),
                function: clean_name(&called.function),
            });
            let seconds = Some(sample.seconds.min(recorded.seconds));
            stalls.push(Stall { frames: frames.collect(), seconds, times: 1, test: test.clone() });
        }
    }
    Ok(stalls)
}
