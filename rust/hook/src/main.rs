//! `reverie-hook CLIENT EVENT [PART]`: standard input to the daemon, its answer to standard output.
//!
//! A hook may neither fail nor delay its client: the exit status is always 0, and after [`WAIT`] nothing more is waited
//! for. Every hook is sent, whatever became of the ones before: a daemon that was late reads it once it runs again, and
//! by the time in the request it knows that nobody read its answer. A client whose last request had none waits for
//! [`WAIT_AGAIN`] alone for some seconds, so that a daemon that hangs costs little; a daemon that is not running costs
//! nothing, since the connection is refused at once.
//!
//! The standard library alone, and no other file: the bindings of the library compile this one by itself.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::parent_id;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longest time that the hook makes the client wait.
const WAIT: Duration = Duration::from_millis(300);

/// Longest time where this client's request before had no answer, [`BACK_OFF`] ago at most. What opens a session or
/// follows a compaction is waited for in full: it is rare, and the agent goes on without it.
const WAIT_AGAIN: Duration = Duration::from_millis(50);
const BACK_OFF: Duration = Duration::from_secs(5);

/// Number of the files that mark a request without an answer; a client has the one of its process id.
const MARKS: u32 = 64;

/// Least time for one read: a read looks for bytes before it looks at the time, so that an answer in time is read.
const READ_LEAST: Duration = Duration::from_millis(1);

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
    let pid = client_process();
    let mark = socket.with_file_name(format!("hook.late.{}", pid % MARKS));
    let opens = words.get(1).is_some_and(|event| event == "SessionStart");
    let wait = if !opens && is_younger(&mark, BACK_OFF) { WAIT_AGAIN } else { WAIT };
    let target = target(client, words.get(2), pid);
    let end = Instant::now() + WAIT;
    let (requests, request) = mpsc::channel();
    // Reading the input, connecting and writing may each block for ever, so they are done beside the clock.
    thread::spawn(move || requests.send(ask(&socket, &target, wait, end)));
    let answer = match request.recv_timeout(WAIT) {
        Ok(sent) => sent.and_then(|(peer, until)| read(peer, until)),
        Err(_) if ASKED.load(Ordering::Relaxed) => Err(ErrorKind::TimedOut.into()),
        Err(_) => process::exit(0),
    };
    match answer {
        Ok(text) => {
            fs::remove_file(&mark).unwrap_or_default();
            let mut out = io::stdout();
            // A client that is gone needs no answer.
            out.write_all(&text).and_then(|()| out.flush()).unwrap_or_default();
        }
        Err(error) if error.kind() == ErrorKind::TimedOut => fs::write(&mark, b"").unwrap_or_default(),
        Err(_) => {}
    }
    process::exit(0);
}

/// Return the client's own process: that which it names, else the one that started us.
fn client_process() -> u32 {
    let named = env::var("CLAUDE_PID").ok().and_then(|text| text.parse().ok());
    named.unwrap_or_else(parent_id)
}

/// Return the request's target, at whose end is to stand until when its answer is read.
fn target(client: &str, part: Option<&String>, pid: u32) -> String {
    let name: String = client.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').collect();
    let part = part.map(String::as_str).filter(|part| PARTS.contains(part));
    let part = part.map_or_else(String::new, |part| format!("&part={part}"));
    format!("/v1/hooks/{name}?pid={pid}{part}&until=")
}

/// Send the request; return the connection on which its answer comes, and until when it is read: for `wait`, and not
/// after `end`.
///
/// The input is read in any case: the client may take a pipe that is closed early for a failure.
fn ask(socket: &Path, target: &str, wait: Duration, end: Instant) -> io::Result<(UnixStream, Instant)> {
    let mut body = Vec::new();
    io::stdin().read_to_end(&mut body)?;
    if env::var_os(MODEL_CALL).is_some() {
        return Err(ErrorKind::Unsupported.into());
    }
    ASKED.store(true, Ordering::Relaxed);
    let left = end.saturating_duration_since(Instant::now()).min(wait);
    let (until, until_date) = (Instant::now() + left, SystemTime::now() + left);
    let until_ms = until_date.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut peer = UnixStream::connect(socket)?;
    let token = env::var("REVERIE_TOKEN")
        .ok()
        .filter(|token| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
    let token = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
    let head = format!(
        "POST {target}{until_ms} HTTP/1.1\r\nHost: reverie\r\nConnection: close\r\n{token}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    peer.write_all(head.as_bytes())?;
    peer.write_all(&body)?;
    Ok((peer, until))
}

/// Return the daemon's answer; empty where it is no success. An error is `TimedOut` where it is not there in time.
fn read(mut peer: UnixStream, until: Instant) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    let mut piece = [0; 16_384];
    loop {
        peer.set_read_timeout(Some(until.saturating_duration_since(Instant::now()).max(READ_LEAST)))?;
        match peer.read(&mut piece) {
            Ok(0) => return Ok(body_of(&answer).unwrap_or_default().to_vec()),
            Ok(size) => answer.extend_from_slice(&piece[..size]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return body_of(&answer).map(<[u8]>::to_vec).ok_or_else(|| ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
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

/// Return whether a file was changed less than `limit` ago.
fn is_younger(path: &Path, limit: Duration) -> bool {
    let changed_at = fs::metadata(path).and_then(|status| status.modified());
    changed_at.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < limit))
}
