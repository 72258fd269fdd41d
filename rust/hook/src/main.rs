//! `reverie-hook CLIENT EVENT [PART]`: standard input to the daemon, its answer to standard output.
//!
//! A hook may neither fail nor delay its client: the exit status is always 0, and after [`WAIT`] nothing more is waited
//! for. A daemon that misses two hooks in a row hangs: for [`QUIET`] no request is sent then. One that misses a single
//! hook was busy; the next one waits for [`WAIT_AGAIN`] alone, so that one that hangs costs less than half a second. One
//! that has just started may be late, and one that is not running costs nothing: the connection is refused at once.
//!
//! The standard library alone, and no other file: the bindings of the library compile this one by itself.

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

/// Longest time that the hook makes the client wait.
const WAIT: Duration = Duration::from_millis(300);

/// Longest time that it makes the client wait where the request before had no answer.
const WAIT_AGAIN: Duration = Duration::from_millis(150);

/// Time without requests after two in a row without an answer.
const QUIET: Duration = Duration::from_mins(1);

/// Least age of a daemon's socket for a request without an answer to count.
const STARTING: Duration = Duration::from_secs(10);

/// True once the input was read, so that a further wait is for the daemon.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The parts that a hook at a session's start may ask for.
const PARTS: [&str; 3] = ["state", "summary", "excerpts"];

/// Set where the daemon itself runs the client to ask its model: that session must not be fed back.
const MODEL_CALL: &str = "REVERIE_MODEL_CALL";

/// The file beside this program with the path of the daemon's socket, for a client that hides the environment.
const SOCKET_FILE: &str = "socket";

fn main() {
    let words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let (Some(client), Some(socket)) = (words.first(), socket_path()) else { process::exit(0) };
    let stamp = socket.with_file_name("hook.quiet");
    let mark = socket.with_file_name("hook.missed");
    let (answers, answer) = mpsc::channel();
    let (target, quiet) =
        (target(client, words.get(2)), is_younger(&stamp, QUIET) || env::var_os(MODEL_CALL).is_some());
    let has_missed = is_marked(&mark, &socket);
    let asked = socket.clone();
    // Reading, connecting and waiting may each block for ever, so they are done beside the clock.
    thread::spawn(move || answers.send(ask(&asked, &target, quiet)));
    let answer = answer.recv_timeout(if has_missed { WAIT_AGAIN } else { WAIT });
    if answer.is_err() && ASKED.load(Ordering::Relaxed) && !is_younger(&socket, STARTING) {
        fs::write(if has_missed { &stamp } else { &mark }, b"").unwrap_or_default();
    }
    if has_missed && !quiet && matches!(answer, Ok(Ok(_))) {
        fs::remove_file(&mark).unwrap_or_default();
    }
    if let Ok(Ok(text)) = answer {
        let mut out = io::stdout();
        // A client that is gone needs no answer.
        out.write_all(&text).and_then(|()| out.flush()).unwrap_or_default();
    }
    process::exit(0);
}

/// Return the request's target: the client's own process is that which it names, else the one that started us.
fn target(client: &str, part: Option<&String>) -> String {
    let named = env::var("CLAUDE_PID").ok().and_then(|text| text.parse().ok());
    let pid: u32 = named.unwrap_or_else(parent_id);
    let name: String = client.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
    let part = part.map(String::as_str).filter(|part| PARTS.contains(part));
    let part = part.map_or_else(String::new, |part| format!("&part={part}"));
    format!("/v1/hooks/{name}?pid={pid}{part}")
}

/// Return the daemon's answer; empty where it is no success, and without a request where `quiet`.
///
/// The input is read in any case: the client may take a pipe that is closed early for a failure.
fn ask(socket: &Path, target: &str, quiet: bool) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    io::stdin().read_to_end(&mut body)?;
    if quiet {
        return Ok(Vec::new());
    }
    ASKED.store(true, Ordering::Relaxed);
    let mut peer = UnixStream::connect(socket)?;
    let token = env::var("REVERIE_TOKEN")
        .ok()
        .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
    let token = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let head = format!(
        "POST {target} HTTP/1.1\r\nHost: reverie\r\nConnection: close\r\n{token}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    peer.write_all(head.as_bytes())?;
    peer.write_all(&body)?;
    let mut answer = Vec::new();
    peer.read_to_end(&mut answer)?;
    Ok(body_of(&answer).unwrap_or_default().to_vec())
}

/// Return the whole body of a successful answer.
fn body_of(answer: &[u8]) -> Option<&[u8]> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = str::from_utf8(&answer[..end]).ok()?;
    let mut lines = head.split("\r\n");
    if lines.next()?.split(' ').nth(1)? != "200" {
        return None;
    }
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    let body = &answer[end + 4..];
    (body.len() == length).then_some(body)
}

/// Return the daemon's socket, as the daemon finds it; where no variable says so, the one that was noted at the
/// installation.
fn socket_path() -> Option<PathBuf> {
    if let Some(path) = absolute("REVERIE_SOCKET") {
        return Some(path);
    }
    if let Some(home) = absolute("REVERIE_HOME") {
        return Some(home.join("run/reverie.sock"));
    }
    let noted = env::current_exe().ok().map(|program| program.with_file_name(SOCKET_FILE));
    if let Some(path) = noted.and_then(|file| fs::read_to_string(file).ok()) {
        return Some(PathBuf::from(path.trim_end()));
    }
    absolute("XDG_RUNTIME_DIR").map(|folder| folder.join("reverie/reverie.sock"))
}

/// Return the absolute path in a variable.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Return whether the last request to the daemon of this socket had no answer.
fn is_marked(mark: &Path, socket: &Path) -> bool {
    changed_at(mark).is_ok_and(|at| changed_at(socket).is_ok_and(|start| start <= at))
}

/// Return whether a file was changed less than `limit` ago.
fn is_younger(path: &Path, limit: Duration) -> bool {
    changed_at(path).is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < limit))
}

/// Return when a file was changed last.
fn changed_at(path: &Path) -> io::Result<SystemTime> {
    fs::metadata(path)?.modified()
}
