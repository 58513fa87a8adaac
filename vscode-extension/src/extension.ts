import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import { registerCommands } from "./common/commands";
import { logger } from "./common/logger";
import { onInterpreterChange } from "./common/python";
import { type Channels, startServer, stopServer } from "./common/server";
import { needsRestart } from "./common/settings";
import { Status } from "./common/status";

let client: LanguageClient | undefined;
/** Starts and stops happen one after the other, however fast they are asked for. */
let last: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const status = new Status();
  const channels: Channels = {
    server: vscode.window.createOutputChannel("blocklint Language Server"),
    trace: vscode.window.createOutputChannel("blocklint Language Server Trace"),
  };
  const restart = (): Promise<void> => {
    last = last.then(async () => {
      await stopServer(client);
      client = await startServer(status, channels);
    });
    return last;
  };
  context.subscriptions.push(
    logger,
    status,
    channels.server,
    channels.trace,
    ...registerCommands(() => client, restart, channels.server),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (needsRestart(change)) {
        await restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    await onInterpreterChange(() => void restart()),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await last;
  await stopServer(client);
}
