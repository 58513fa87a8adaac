import { PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";

import { logger } from "./logger";

/** The interpreter that the Python extension has selected; nothing without that extension. */
export async function selectedInterpreter(): Promise<string | undefined> {
  if (!vscode.extensions.getExtension("ms-python.python")) {
    return undefined;
  }
  try {
    const api = await PythonExtension.api();
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const path = api.environments.getActiveEnvironmentPath(folder);
    const environment = await api.environments.resolveEnvironment(path);
    return environment?.executable.uri?.fsPath;
  } catch (error) {
    logger.warn(`the Python extension did not answer: ${error}`);
    return undefined;
  }
}

/** Calls back when another interpreter is selected. */
export async function onInterpreterChange(changed: () => void): Promise<vscode.Disposable> {
  if (!vscode.extensions.getExtension("ms-python.python")) {
    return new vscode.Disposable(() => undefined);
  }
  try {
    const api = await PythonExtension.api();
    return api.environments.onDidChangeActiveEnvironmentPath(changed);
  } catch (error) {
    logger.warn(`the Python extension did not answer: ${error}`);
    return new vscode.Disposable(() => undefined);
  }
}
