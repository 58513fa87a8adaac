import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Version {
  major: number;
  minor: number;
  patch: number;
}

export function versionToString({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}

/** Reads `blocklint 0.1.0`, as `--version` prints it. */
export function parseVersion(text: string): Version | undefined {
  const match = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  return match ? { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) } : undefined;
}

export function isAtLeast(version: Version, least: Version): boolean {
  const parts = (of: Version) => [of.major, of.minor, of.patch];
  const [have, want] = [parts(version), parts(least)];
  for (let at = 0; at < 3; at += 1) {
    if (have[at] !== want[at]) {
      return (have[at] ?? 0) > (want[at] ?? 0);
    }
  }
  return true;
}

/** The version of a binary; nothing where it does not run. */
export async function binaryVersion(binary: string): Promise<Version | undefined> {
  try {
    const { stdout } = await run(binary, ["--version"], { timeout: 10_000 });
    return parseVersion(stdout);
  } catch {
    return undefined;
  }
}
