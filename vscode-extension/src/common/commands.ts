import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { Location, Position, TextEdit } from "vscode-languageserver-protocol";

import { logger } from "./logger";

/** What the server hands to `blocklint.ignoreWithReason`. */
interface Ignore {
  uri: string;
  version: number | null;
  edits: TextEdit[];
  rule: string;
}

/** Registers the commands; `client` gives the client that runs now, `restart` starts another. */
export function registerCommands(
  client: () => LanguageClient | undefined,
  restart: () => Promise<void>,
  serverLog: vscode.OutputChannel,
): vscode.Disposable[] {
  const command = (name: string, run: (...args: never[]) => unknown) =>
    vscode.commands.registerCommand(`blocklint.${name}`, run as (...args: unknown[]) => unknown);
  return [
    command("restart", restart),
    command("showLogs", () => logger.show()),
    command("showServerLogs", () => serverLog.show()),
    command("executeAutofix", executeAutofix),
    command("showReferences", (uri: string, position: Position, places: Location[]) =>
      showReferences(client(), uri, position, places),
    ),
    command("ignoreWithReason", (ignore: Ignore) => ignoreWithReason(client(), ignore)),
    command("showDebugInformation", () => debugInformation(client())),
  ];
}

async function executeAutofix(): Promise<void> {
  await vscode.commands.executeCommand("editor.action.codeAction", { kind: "source.fixAll.blocklint", apply: "first" });
}

async function showReferences(
  client: LanguageClient | undefined,
  uri: string,
  position: Position,
  places: Location[],
): Promise<void> {
  const to = client?.protocol2CodeConverter;
  if (to) {
    const [at, all] = [to.asPosition(position), places.map((place) => to.asLocation(place))];
    await vscode.commands.executeCommand("editor.action.showReferences", to.asUri(uri), at, all);
  }
}

/** Asks for the reason and applies the comment with it. */
async function ignoreWithReason(client: LanguageClient | undefined, ignore: Ignore): Promise<void> {
  if (!client) {
    return;
  }
  const prompt = `Why may ${ignore.rule} be ignored here?`;
  const reason = await vscode.window.showInputBox({ prompt, placeHolder: "runs once, before the server listens" });
  if (reason === undefined) {
    return;
  }
  const uri = client.protocol2CodeConverter.asUri(ignore.uri);
  const document = await vscode.workspace.openTextDocument(uri);
  if (ignore.version !== null && document.version !== ignore.version) {
    void vscode.window.showWarningMessage("blocklint: the file has changed meanwhile; nothing was inserted.");
    return;
  }
  const edit = new vscode.WorkspaceEdit();
  for (const of of ignore.edits) {
    const text = of.newText.replace(/\](\r?\n)?$/, (_, end: string | undefined) => `] ${reason.trim()}${end ?? ""}`);
    edit.replace(uri, client.protocol2CodeConverter.asRange(of.range), text);
  }
  await vscode.workspace.applyEdit(edit);
}

async function debugInformation(client: LanguageClient | undefined): Promise<void> {
  const told = await client?.sendRequest<string>("workspace/executeCommand", { command: "blocklint.debugInformation" });
  const content = told ?? "blocklint: no server runs.";
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content }));
}
