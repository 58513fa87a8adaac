import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

import { BINARY_NAME, BUNDLED_BINARY, FIND_BINARY_SCRIPT } from "./constants";
import { logger } from "./logger";
import { selectedInterpreter } from "./python";
import type { ExtensionSettings } from "./settings";

const run = promisify(execFile);

/**
 * The binary to run. In this order:
 *
 * 1. in a workspace that is not trusted: the bundled one;
 * 2. the first of `blocklint.path` that exists;
 * 3. with `importStrategy: useBundled`: the bundled one;
 * 4. the one that the selected Python environment has, found by a script that imports its package;
 * 5. the one in PATH;
 * 6. the bundled one.
 */
export async function findBinary(settings: ExtensionSettings): Promise<string | undefined> {
  const bundled = isFile(BUNDLED_BINARY) ? BUNDLED_BINARY : undefined;
  if (!vscode.workspace.isTrusted) {
    logger.info("The workspace is not trusted: only the bundled binary may run.");
    return bundled;
  }
  for (const candidate of settings.path) {
    if (isFile(candidate)) {
      logger.info(`From \`blocklint.path\`: ${candidate}`);
      return candidate;
    }
    logger.warn(`\`blocklint.path\` names ${candidate}, which is no file.`);
  }
  if (settings.importStrategy === "useBundled" && bundled) {
    logger.info(`Bundled: ${bundled}`);
    return bundled;
  }
  const interpreter = settings.interpreter[0] ?? (await selectedInterpreter());
  const found = (interpreter && (await inEnvironment(interpreter))) || inPath();
  logger.info(found ? `From the environment: ${found}` : `Bundled: ${bundled ?? "none"}`);
  return found ?? bundled;
}

async function inEnvironment(interpreter: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(interpreter, [FIND_BINARY_SCRIPT], { timeout: 10_000 });
    const found = stdout.trim();
    return isFile(found) ? found : undefined;
  } catch (error) {
    logger.debug(`${interpreter} has no blocklint: ${error}`);
    return undefined;
  }
}

function inPath(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => path.join(folder, BINARY_NAME)).find(isFile);
}

function isFile(candidate: string): boolean {
  try {
    return fs.statSync(candidate).isFile();
  } catch {
    return false;
  }
}
