import * as vscode from "vscode";

type Level = "error" | "warning" | "info" | "debug";
const ORDER: Level[] = ["error", "warning", "info", "debug"];

/** The log of the extension itself; the server's messages have a channel of their own. */
class Logger implements vscode.Disposable {
  private readonly channel = vscode.window.createOutputChannel("blocklint");

  error(message: string): void {
    this.write("error", message);
  }

  warn(message: string): void {
    this.write("warning", message);
  }

  info(message: string): void {
    this.write("info", message);
  }

  debug(message: string): void {
    this.write("debug", message);
  }

  show(): void {
    this.channel.show();
  }

  dispose(): void {
    this.channel.dispose();
  }

  private write(level: Level, message: string): void {
    const least = vscode.workspace.getConfiguration("blocklint").get<Level>("logLevel", "info");
    if (ORDER.indexOf(level) <= ORDER.indexOf(least)) {
      this.channel.appendLine(`${new Date().toISOString()} [${level}] ${message}`);
    }
  }
}

export const logger = new Logger();
