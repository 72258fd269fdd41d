//! Client programs that take a password on their command line, and cookies that prove an identity.

/// Where a client takes its password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The word of this number, counted from 1 behind the subcommand and without options: `net user ann X`.
    Positional(usize),
    /// The password, in the same word as the option: `-pX`.
    Attached,
    /// The password, as the next word.
    Next,
    /// The password, either way.
    Either,
    /// The next word, behind the user and this byte.
    Behind(u8),
}

/// A client program that takes a password on its command line.
pub(crate) struct Client {
    /// The programs.
    pub(crate) programs: &'static [&'static str],
    /// The options that take it, as they are written; none where its place says what it is.
    pub(crate) options: &'static [&'static str],
    pub(crate) argument: Argument,
    /// The subcommand without which the option has another meaning; may be empty.
    pub(crate) subcommand: &'static str,
}

/// Build a client, for short table rows.
const fn client(
    programs: &'static [&'static str],
    options: &'static [&'static str],
    argument: Argument,
    subcommand: &'static str,
) -> Client {
    Client { programs, options, argument, subcommand }
}

/// Clients that take a password on the command line.
#[rustfmt::skip]
pub(crate) const CLIENTS: &[Client] = &[
    client(&["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlsh", "mysqlslap",
             "mysqlbinlog", "mysqlpump", "mariadb", "mariadb-dump", "mariadb-admin", "xtrabackup"],
           &["-p"], Argument::Attached, ""),
    client(&["7z", "7za", "7zz", "rar", "unrar"], &["-p"], Argument::Attached, ""),
    client(&["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "mongostat",
             "cypher-shell", "cqlsh", "kadmin"],
           &["-p"], Argument::Either, ""),
    client(&["docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "oc", "az", "cf"],
           &["-p"], Argument::Next, "login"),
    client(&["redis-cli", "valkey-cli", "keydb-cli"], &["-a"], Argument::Next, ""),
    client(&["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami", "ldapcompare"],
           &["-w"], Argument::Next, ""),
    client(&["sqlcmd", "bcp", "osql", "tsql", "ipmitool", "mosquitto_pub", "mosquitto_sub", "zip", "unzip"],
           &["-P"], Argument::Either, ""),
    client(&["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk"], &["-A", "-X"], Argument::Next, ""),
    client(&["smbclient", "rpcclient", "smbget"], &["-U"], Argument::Behind(b'%'), ""),
    client(&["lftp"], &["-u"], Argument::Behind(b','), ""),
    client(&["ssh-keygen"], &["-N", "-P"], Argument::Next, ""),
    client(&["openssl"], &["-k", "-K"], Argument::Next, ""),
    client(&["hydra", "medusa", "ncrack"], &["-p"], Argument::Next, ""),
    client(&["xfreerdp", "xfreerdp3", "wfreerdp"], &["/p:"], Argument::Attached, ""),
    client(&["gh"], &["-b", "--body"], Argument::Either, "secret"),
    client(&["net", "NET", "net.exe"], &[], Argument::Positional(2), "user"),
    client(&["rabbitmqctl"], &[], Argument::Positional(2), "add_user"),
    client(&["rabbitmqctl"], &[], Argument::Positional(2), "change_password"),
    client(&["ConvertTo-SecureString", "requirepass", "masterauth"], &[], Argument::Positional(1), ""),
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
