//! Java: names by which code says what goes on: that something failed, that a host is a socket's, that there is one of a class.

/// Says that what a listener listened for went well.
pub(crate) const IS_SUCCESS: &str = "isSuccess";

/// Gives why something failed; nothing where it did not.
pub(crate) const CAUSE: &str = "cause";

/// Takes a listener.
pub(crate) const LISTEN: &str = "addListener";

/// Binds a server to its port.
pub(crate) const BIND: &str = "bind";

/// Gives the channel that a handler's context belongs to.
pub(crate) const CHANNEL: &str = "channel";

/// Ends what has a connection or a file.
pub(crate) const CLOSE: &str = "close";

/// Takes what is to be done when a channel has been closed.
pub(crate) const LISTEN_FOR_CLOSE: &str = "addCloseListener";

/// Asks whether an address names a host.
pub(crate) const IS_ABSOLUTE: &str = "isAbsolute";

/// Gives what puts an object of a class together.
pub(crate) const BUILDER: &str = "builder";

/// Whether a call of this name makes an address of a path, without a host.
pub(crate) fn makes_of_path(name: &str) -> bool {
    name == "fromPath"
}

/// What reads a list of classes to make from a file that is no code.
pub(crate) const READS_LISTS: &[&str] = &[
    "ClassPathXmlApplicationContext",
    "FileSystemXmlApplicationContext",
    "GenericXmlApplicationContext",
    "XmlBeanDefinitionReader",
    "ImportResource",
];

/// Where a program begins.
pub(crate) const MAIN: &str = "main";

/// The object itself, as its base sees it.
pub(crate) const SUPER: &str = "super";

/// The type of what may be anything.
pub(crate) const ANYTHING: &str = "Object";

/// The operator of chains that emits again and again by itself.
pub(crate) const INTERVAL: &str = "interval";

/// Give a task to a thread again and again.
pub(crate) const REPEATS: &[&str] = &["scheduleAtFixedRate", "scheduleWithFixedDelay"];

/// Whether a call of this name on the sink of a chain ends the chain, as it should.
pub(crate) fn ends_sink(name: &str) -> bool {
    matches!(name, "complete" | "success" | "onComplete" | "onSuccess")
}

/// Whether an annotation of this name says that a method never blocks.
pub(crate) fn says_not_to_block(name: &str) -> bool {
    name == "NonBlocking"
}

/// Whether a variable of this name holds a written address of a host.
pub(crate) fn is_address(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "");
    ["ip", "ipaddr", "ipaddress"].contains(&name.as_str()) || name.ends_with("ipaddress") || name.ends_with("ipaddr")
}

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

/// Whether a method of this name does nothing but hold its thread for a while: it is there to show that.
pub(crate) fn says_it_sleeps(name: &str) -> bool {
    begins_with_word(name, "sleep")
}

/// Whether a method of this name shows how something is not to be done.
pub(crate) fn says_it_is_wrong(name: &str) -> bool {
    ["incorrect", "wrong"].iter().any(|word| begins_with_word(name, word))
}

/// Whether a method of this name says that it blocks.
pub(crate) fn says_it_blocks(name: &str) -> bool {
    begins_with_word(name, "blocking") || name.ends_with("Blocking") && !says_it_does_not(name)
}

/// Whether a method of this name says that it does not block, or that it works.
pub(crate) fn says_it_does_not(name: &str) -> bool {
    ["nonblocking", "workable"].iter().any(|word| name.to_ascii_lowercase().contains(word))
}

/// Whether the first word of a name is this one, or all of it.
fn begins_with_word(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

/// Whether a folder of this name holds tests, or what is there for them.
pub(crate) fn is_folder_of_tests(name: &str) -> bool {
    matches!(name, "testing" | "testkit" | "testFixtures" | "jmh")
        || name.ends_with("-test")
        || name.ends_with("-tests")
        || name.ends_with("-testing")
        || name.ends_with("Test")
        || name.ends_with("Tests")
        || name.starts_with("test-")
        || name.starts_with("testing-")
}

/// The abstract methods of the functional interfaces of `java.lang` and `java.util`.
pub(crate) const FUNCTIONAL_METHODS: &[&str] = &[
    "run",
    "call",
    "apply",
    "accept",
    "get",
    "test",
    "compare",
    "applyAsInt",
    "applyAsLong",
    "applyAsDouble",
    "getAsInt",
    "getAsLong",
    "getAsDouble",
    "getAsBoolean",
];
