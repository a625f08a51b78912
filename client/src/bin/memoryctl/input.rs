//! What is read from files and from standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, IsTerminal, Read, Write};
use std::path::Path;

use memoryd_client::proto::{Code, Fault};

/// Opens a file, or standard input for `-`. The length is known for files only.
pub fn open(path: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), Fault> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    Ok((Box::new(BufReader::new(file)), length))
}

/// The whole text of a file, or of standard input for `-`.
pub fn text(path: &Path) -> Result<String, Fault> {
    let mut text = String::new();
    open(path)?.0.read_to_string(&mut text).map_err(|error| unreadable(path, &error))?;
    Ok(text)
}

/// The text of an argument; `-` stands for standard input.
pub fn argument(argument: &str) -> Result<String, Fault> {
    if argument == "-" { Ok(text(Path::new("-"))?.trim().to_owned()) } else { Ok(argument.to_owned()) }
}

/// Asks a person. Scripts say that they are sure.
pub fn confirmed(question: &str, what: &str) -> Result<(), Fault> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(Fault::invalid(what, "Pass --yes if that is what you want."));
    }
    let mut answer = String::new();
    // When the question cannot be written or the answer read, there is no yes.
    let _ = write!(anstream::stderr(), "{question}").and_then(|()| stdin.lock().read_line(&mut answer));
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Fault::invalid("That was not confirmed", "Nothing was changed. Answer y to go on."))
}

/// The fault for a file that cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Fault {
    let missing = error.kind() == ErrorKind::NotFound;
    let code = if missing { Code::NotFound } else { Code::Invalid };
    Fault::new(
        code,
        format!("{} cannot be read: {error}", path.display()),
        "Check the path and its permissions.",
    )
}
