// Drives the packaged extension in a real editor (code-server in headless Chromium): the problems of a Python, a Rust and a
// Java file with their paths, a quick fix, and a problem in one file that comes and goes with another.
//
// Usage: node drive.mjs URL WORKSPACE SCREENSHOTS    (run.sh calls it)

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { chromium } from "playwright-core";

const [url, workspace, screenshots] = process.argv.slice(2);
const started = Date.now();
const log = (...words) => console.log(`${((Date.now() - started) / 1000).toFixed(1)} s`, ...words);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
page.setDefaultTimeout(60_000);

const shot = (name) => page.screenshot({ path: path.join(screenshots, `${name}.png`) });
const problems = async () => (await page.locator(".markers-panel").innerText()).replace(/\s+/g, " ");
const wait = async (what, check) => {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await check()) {
      log(what);
      return;
    }
    await page.waitForTimeout(100);
  }
  await shot("failed");
  assert.fail(`${what}: not seen; problems are: ${await problems()}`);
};
const command = async (title) => {
  await page.keyboard.press("F1");
  await page.locator(".quick-input-widget input").fill(`>${title}`);
  await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).waitFor();
  await page.keyboard.press("Enter");
};
const open = async (file) => {
  await page.keyboard.press("Control+P");
  await page.locator(".quick-input-widget input").fill(file);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: path.basename(file) }).first().click();
  await page.locator(".tab.active", { hasText: path.basename(file) }).waitFor();
  await page.locator(".monaco-editor .view-lines").first().waitFor();
};
const line = (text) => page.locator(".editor-instance .view-line", { hasText: text }).first();

try {
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.locator(".explorer-folders-view .monaco-list-row").first().waitFor();
  log("the workbench is there");

  await open("app.py");
  await page.locator(".squiggly-warning, .squiggly-error").first().waitFor();
  log("a squiggle in Python");
  await page.keyboard.press("Control+Shift+M");
  await page.locator(".markers-panel .monaco-list-row").first().waitFor();
  await wait("the problem with its path", async () => {
    const text = await problems();
    return text.includes("handler → pause → time.sleep") && text.includes("BLT101");
  });
  await wait("the step of the path in the other file", async () => (await problems()).includes("work.py"));
  await shot("python");

  await line("time.sleep(1)").click();
  await page.keyboard.press("Control+.");
  await page.locator(".action-widget .monaco-list-row").first().waitFor();
  const actions = (await page.locator(".action-widget").innerText()).replace(/\s+/g, " ");
  log("actions:", actions);
  assert.match(actions, /Ignore BLT101 for this line, with a reason/);
  await shot("quick-fix");
  await page.keyboard.press("Enter");
  await wait("the fix in the text", async () => (await line("await asyncio.sleep(1)").count()) > 0);
  await page.keyboard.press("Control+S");
  await wait("the fix on disk", async () =>
    (await readFile(path.join(workspace, "app.py"), "utf8")).includes("await asyncio.sleep(1)"),
  );
  await wait("the fixed problem is gone", async () => !(await problems()).includes("`direct`"));
  await shot("fixed");

  // The helper stops to block: the problem of the other file goes, without a save.
  await open("work.py");
  await line("time.sleep(1)").click();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+Home");
  await page.keyboard.type("pass");
  await wait("the problem in the other file goes", async () => !(await problems()).includes("handler"));
  await shot("other-file-gone");
  await line("pass").click();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+Home");
  await page.keyboard.type("time.sleep(2)");
  await wait("and comes", async () => (await problems()).includes("handler → pause → time.sleep"));
  await wait("the code lens of the helper", async () =>
    (await page.locator(".codelens-decoration").allInnerTexts()).some((text) => text.includes("stalls 1 async function")),
  );
  await shot("other-file-back");

  for (const [file, name] of [["src/lib.rs", "Rust"], ["java/Shop.java", "Java"]]) {
    await open(file);
    await page.locator(".editor-instance .squiggly-warning, .editor-instance .squiggly-error").first().waitFor();
    await wait(`the problem in ${name}`, async () => (await problems()).includes(path.basename(file)));
    await shot(name.toLowerCase());
  }

  await open("app.py");
  await line("pause()").hover();
  await page.mouse.move(0, 0);
  await line("    pause()").locator("span span").last().hover();
  await wait("the hover with the path", async () =>
    (await page.locator(".monaco-hover").allInnerTexts()).some((text) => text.includes("which blocks")),
  );
  await shot("hover");

  await command("blocklint: Show Debug Information");
  await wait("the debug information", async () => (await line("position encoding").count()) > 0);
  await shot("debug-information");
  log("done");
} catch (error) {
  await shot("failed");
  throw error;
} finally {
  await browser.close();
}
