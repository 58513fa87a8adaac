import * as vscode from "vscode";
import {
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  type ServerOptions,
  type StaticFeature,
} from "vscode-languageclient/node";

import { findBinary } from "./binary";
import { CLIENT_COMMANDS, LANGUAGES, MINIMUM_VERSION, TOOL, TOOL_NAME } from "./constants";
import { logger } from "./logger";
import { extensionSettings, initialSettings } from "./settings";
import type { Status } from "./status";
import { binaryVersion, isAtLeast, versionToString } from "./version";

/** The channels of the server: what it says, and with `blocklint.trace.server` each message. */
export interface Channels {
  server: vscode.OutputChannel;
  trace: vscode.OutputChannel;
}

/** Starts the server; nothing where there is none that could run. */
export async function startServer(status: Status, channels: Channels): Promise<LanguageClient | undefined> {
  status.starts();
  const settings = extensionSettings();
  const binary = await findBinary(settings);
  if (!binary) {
    return refused(status, "No blocklint binary was found. Install it (`pip install blocklint-async`) or set `blocklint.path`.");
  }
  const version = await binaryVersion(binary);
  if (!version) {
    return refused(status, `${binary} does not run.`);
  }
  if (!isAtLeast(version, MINIMUM_VERSION)) {
    const least = versionToString(MINIMUM_VERSION);
    return refused(status, `${binary} is blocklint ${versionToString(version)}; at least ${least} is needed.`);
  }
  const run = { command: binary, args: ["server"] };
  const server: ServerOptions = { run, debug: run };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
    outputChannel: channels.server,
    traceOutputChannel: channels.trace,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    initializationOptions: { settings: initialSettings() },
  };
  const client = new LanguageClient(TOOL, TOOL_NAME, server, options);
  client.registerFeature(new ClientCommands());
  try {
    await client.start();
  } catch (error) {
    return refused(status, `The server did not start: ${error}`);
  }
  status.runs(versionToString(version), binary);
  return client;
}

/** Ends the server; one that does not answer is left to the editor. */
export async function stopServer(client: LanguageClient | undefined): Promise<void> {
  try {
    await client?.dispose();
  } catch (error) {
    logger.warn(`The server did not end: ${error}`);
  }
}

function refused(status: Status, why: string): undefined {
  logger.error(why);
  status.fails(why);
  if (extensionSettings().showNotifications !== "off") {
    void vscode.window.showErrorMessage(`blocklint: ${why}`, "Show logs").then((choice) => {
      if (choice) {
        logger.show();
      }
    });
  }
  return undefined;
}

/** Tells the server which commands this client offers. */
class ClientCommands implements StaticFeature {
  fillClientCapabilities(capabilities: { experimental?: unknown }): void {
    const known = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...known, commands: CLIENT_COMMANDS };
  }

  initialize(): void {}

  getState(): { kind: "static" } {
    return { kind: "static" };
  }

  clear(): void {}
}
