import * as os from "node:os";
import * as vscode from "vscode";

export type ImportStrategy = "fromEnvironment" | "useBundled";

/** What the extension itself asks of the settings; the server asks for its own by `workspace/configuration`. */
export interface ExtensionSettings {
  path: string[];
  importStrategy: ImportStrategy;
  interpreter: string[];
  showNotifications: "off" | "onError" | "always";
}

/** Settings after a change of which the server is started anew. */
const RESTARTS = ["path", "importStrategy", "interpreter", "diagnosticMode"];

/** The settings; of several folders, those of the first: one server serves all. */
export function extensionSettings(): ExtensionSettings {
  const folder = vscode.workspace.workspaceFolders?.[0];
  const settings = vscode.workspace.getConfiguration("blocklint", folder);
  const paths = (key: string) => settings.get<string[]>(key, []).map((text) => replaced(text, folder));
  return {
    path: paths("path"),
    importStrategy: settings.get<ImportStrategy>("importStrategy", "fromEnvironment"),
    interpreter: paths("interpreter"),
    showNotifications: settings.get("showNotifications", "onError"),
  };
}

/** What the server is started with, for the first analysis; it asks for the settings of each folder as soon as it runs. */
export function initialSettings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("blocklint", vscode.workspace.workspaceFolders?.[0]);
}

export function needsRestart(change: vscode.ConfigurationChangeEvent): boolean {
  return RESTARTS.some((key) => change.affectsConfiguration(`blocklint.${key}`));
}

function replaced(text: string, folder: vscode.WorkspaceFolder | undefined): string {
  const home = os.homedir();
  return text
    .replace(/^~(?=$|[/\\])/, home)
    .replaceAll("${userHome}", home)
    .replaceAll("${workspaceFolder}", folder?.uri.fsPath ?? "")
    .replace(/\$\{env:([^}]+)\}/g, (_, name: string) => process.env[name] ?? "");
}
