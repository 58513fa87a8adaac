import * as vscode from "vscode";

import { LANGUAGES } from "./constants";

/** The item in the language status: which binary serves, and how it is. */
export class Status implements vscode.Disposable {
  private readonly item: vscode.LanguageStatusItem;

  constructor() {
    this.item = vscode.languages.createLanguageStatusItem(
      "blocklint",
      LANGUAGES.map((language) => ({ scheme: "file", language })),
    );
    this.item.name = "blocklint";
    this.item.text = "blocklint";
    this.item.command = { title: "Show logs", command: "blocklint.showLogs" };
  }

  starts(): void {
    this.set("blocklint", "starts", vscode.LanguageStatusSeverity.Information, true);
  }

  runs(version: string, binary: string): void {
    this.set(`blocklint ${version}`, binary, vscode.LanguageStatusSeverity.Information, false);
  }

  fails(why: string): void {
    this.set("blocklint", why, vscode.LanguageStatusSeverity.Error, false);
  }

  dispose(): void {
    this.item.dispose();
  }

  private set(text: string, detail: string, severity: vscode.LanguageStatusSeverity, busy: boolean): void {
    this.item.text = text;
    this.item.detail = detail;
    this.item.severity = severity;
    this.item.busy = busy;
  }
}
