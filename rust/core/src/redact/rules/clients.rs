//! Client programs that take a password on their command line, and cookies that prove an identity.

/// Where a client takes its password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first word that is no option: `requirepass X`.
    First,
    /// In the same word as the option: `-pX`.
    Attached,
    /// The word behind the option.
    Next,
    /// Either way.
    Either,
}

/// A client program that takes a password on its command line.
pub(crate) struct Client {
    pub(crate) programs: &'static [&'static str],
    pub(crate) option: &'static str,
    pub(crate) place: Place,
    /// The subcommand without which the option has another meaning; may be empty.
    pub(crate) subcommand: &'static str,
}

/// Build a client, for short table rows.
const fn client(
    programs: &'static [&'static str],
    option: &'static str,
    place: Place,
    subcommand: &'static str,
) -> Client {
    Client { programs, option, place, subcommand }
}

/// Clients that take a password on the command line.
#[rustfmt::skip]
pub(crate) const CLIENTS: &[Client] = &[
    client(&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mariadb", "mariadb-dump",
             "7z", "7za", "rar", "unrar"], "-p", Place::Attached, ""),
    client(&["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "cypher-shell",
             "cqlsh"], "-p", Place::Either, ""),
    client(&["docker", "podman", "helm", "skopeo", "oc", "az"], "-p", Place::Next, "login"),
    client(&["redis-cli", "valkey-cli"], "-a", Place::Next, ""),
    client(&["ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"], "-w", Place::Next, ""),
    client(&["sqlcmd", "bcp", "ipmitool", "mosquitto_pub", "mosquitto_sub", "zip", "unzip"], "-P", Place::Either, ""),
    client(&["ssh-keygen"], "-N", Place::Next, ""),
    client(&["ConvertTo-SecureString", "requirepass", "masterauth"], "", Place::First, ""),
];

/// Parts of a cookie's name that say that its value proves a user's identity.
#[rustfmt::skip]
pub(crate) const COOKIE_NAMES: &[&str] = &[
    "sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "user", "key", "secret", "ticket",
    "credential", "identity", "access", "sso", "cookie", "asp",
];

/// Attributes of `Set-Cookie`, which are no cookies.
#[rustfmt::skip]
pub(crate) const COOKIE_ATTRIBUTES: &[&str] = &[
    "path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment", "port",
];
