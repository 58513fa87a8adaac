import * as path from "node:path";

/** The folder of the extension, both as source and as a bundle in `dist`. */
const ROOT = path.dirname(__dirname);

export const EXTENSION_ID = "blocklint.blocklint";
export const TOOL = "blocklint";
export const TOOL_NAME = "blocklint";
const BINARY = process.platform === "win32" ? "blocklint.exe" : "blocklint";
export const BINARY_NAME = BINARY;

/** The binary that comes with the extension, where its package was made for this platform. */
export const BUNDLED_BINARY = path.join(ROOT, "bundled", "bin", BINARY);

/** Prints the path of the binary that an environment's Python package `blocklint` comes with. */
export const FIND_BINARY_SCRIPT = path.join(ROOT, "bundled", "tool", "find_blocklint_binary.py");

/** The oldest version of the binary that knows `blocklint server`. */
export const MINIMUM_VERSION = { major: 0, minor: 1, patch: 0 };

/** Languages whose files are analysed. */
export const LANGUAGES = ["python", "rust", "java"];

/** Commands that the client offers the server for code lenses and actions. */
export const CLIENT_COMMANDS = ["blocklint.showReferences", "blocklint.ignoreWithReason"];
