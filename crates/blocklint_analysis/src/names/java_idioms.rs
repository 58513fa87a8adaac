//! Java: names by which code says what goes on: that something failed, that a host is a socket's, that there is one of a class.

/// Says that what a listener listened for went well.
pub(crate) const IS_SUCCESS: &str = "isSuccess";

/// Gives why something failed; nothing where it did not.
pub(crate) const CAUSE: &str = "cause";

/// Takes a listener.
pub(crate) const LISTEN: &str = "addListener";

/// Binds a server to its port.
pub(crate) const BIND: &str = "bind";

/// The object itself, as its base sees it.
pub(crate) const SUPER: &str = "super";

/// Give a task to a thread again and again.
pub(crate) const REPEATS: &[&str] = &["scheduleAtFixedRate", "scheduleWithFixedDelay"];

/// Whether a call of this name gives the host of an address.
pub(crate) fn gives_host(name: &str) -> bool {
    matches!(name, "host" | "getHost" | "hostName" | "getHostName" | "getHostString")
}

/// Whether a call of this name gives an address that a socket has.
pub(crate) fn gives_socket_address(name: &str) -> bool {
    matches!(name, "address" | "localAddress" | "getLocalAddress" | "remoteAddress" | "getRemoteAddress")
}

/// Whether a static method of this name gives the one object of its class.
pub(crate) fn gives_the_one(name: &str) -> bool {
    matches!(name, "getInstance" | "instance")
}

/// Whether a test of this name asks for a level of logging that is off as a rule.
pub(crate) fn asks_for_details(name: &str) -> bool {
    matches!(name, "isDebugEnabled" | "isTraceEnabled")
}

/// Whether a test of this name asks for a mode of operation: few programs run in it.
pub(crate) fn asks_for_mode(name: &str) -> bool {
    name.starts_with("is") && name.ends_with("Mode")
}

/// Whether a class of this name keeps a program's settings: `CommonConfigHolder`.
pub(crate) fn keeps_settings(name: &str) -> bool {
    ["Config", "Configuration", "Settings"]
        .iter()
        .any(|what| name.ends_with(what) || name.strip_suffix("Holder").is_some_and(|name| name.ends_with(what)))
}
