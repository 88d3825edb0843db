// What the shell around the page does: hide, come back, notify, keep a waiting card over a restart.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { Desktop, binary, manifest, sleep } from "./desktop.mjs";
import { until } from "./webdriver.mjs";

const GOAL = "Summarise the invoices in this folder";

async function toCard(desktop) {
  const window = await desktop.open();
  await window.click("[data-testid=first-run-demo]");
  await window.click("[data-testid=first-run-start]");
  await window.fill("[data-testid=goal-input]", GOAL);
  await window.click("[data-testid=goal-send]");
  const card = await desktop.event("notified");
  return { window, card, folder: path.join(desktop.home, "PocketPilot Demo") };
}

test("a waiting card is there again after a restart, and a rejection writes nothing", { timeout: 180_000 }, async () => {
  const desktop = await Desktop.start();
  try {
    const { folder } = await toCard(desktop);
    const before = manifest(folder);
    await desktop.quit();
    await sleep(500);
    const window = await desktop.open();
    await window.click("[data-testid=nav-inbox]");
    await window.click("[data-testid=inbox-row]");
    await window.wait("[data-testid=approval-card]");
    await sleep(900);
    await window.click("[data-testid=reject-button]");
    await window.type("[data-testid=reject-note]", "not now");
    await window.click("[data-testid=reject-confirm]");
    await until(async () => (await window.find("[data-testid=approve-button]")).length === 0, "the card to be decided");
    assert.deepEqual(manifest(folder), before, "a rejection leaves the folder as it was");
    await desktop.picture("rejected-en-light");
  } finally {
    await desktop.stop();
  }
});

test("closing hides the window, a second start brings it back", { timeout: 120_000 }, async () => {
  const desktop = await Desktop.start();
  try {
    const window = await desktop.open();
    await window.wait("[data-testid=first-run-demo]");
    await desktop.command("wmctrl", "-c", "PocketPilot");
    await desktop.event("hidden");
    const listed = async () => (await desktop.command("wmctrl", "-l")).stdout.includes("PocketPilot");
    await until(async () => !(await listed()), "the window to be hidden");
    const started = Date.now();
    await desktop.command(binary);
    assert.ok(Date.now() - started < 10_000, "a second start ends by itself");
    await until(listed, "the window to be back");
    assert.equal(await window.run("return 1 + 1"), 2, "it is the same window, still alive");
  } finally {
    await desktop.stop();
  }
});

test("the tray says how many cards wait and opens the first", { timeout: 120_000 }, async () => {
  const desktop = await Desktop.start();
  try {
    const { card } = await toCard(desktop);
    const [sender, item] = await desktop.trayItem;
    const menu = ["call", "--session", "-d", sender, "-o", `${item}/Menu`, "-m"];
    const layout = async () => (await desktop.command("gdbus", ...menu, "com.canonical.dbusmenu.GetLayout", "0", "--", "-1", "[]")).stdout;
    const text = await until(async () => {
      const shown = await layout();
      return shown.includes("1 waiting for you") ? shown : undefined;
    }, "the count in the tray menu");
    const before = text.slice(0, text.indexOf("1 waiting for you"));
    const id = [...before.matchAll(/<\((\d+), \{/g)].at(-1)?.[1] ?? [...before.matchAll(/\((\d+), \{/g)].at(-1)[1];
    const opened = desktop.events("open_card").length;
    await desktop.command("gdbus", ...menu, "com.canonical.dbusmenu.Event", id, "clicked", "<''>", "0");
    assert.equal(await desktop.event("open_card", opened), card, "the tray leads to the card that waits");
    assert.ok(text.includes("Quit"), "and offers to quit");
  } finally {
    await desktop.stop();
  }
});

test("the four ways to leave the page make no request", { timeout: 120_000 }, async () => {
  const http = await import("node:http");
  const hits = [];
  const sink = http.createServer((request, answer) => {
    hits.push(request.url);
    answer.end("sink");
  });
  await new Promise((resolve) => sink.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${sink.address().port}`;
  const desktop = await Desktop.start();
  try {
    const window = await desktop.open();
    await window.wait("[data-testid=first-run-demo]");
    const ways = {
      location: `location.href = "${base}/location"`,
      link: `const a = document.createElement("a"); a.href = "${base}/link"; document.body.append(a); a.click()`,
      form: `const f = document.createElement("form"); f.action = "${base}/form"; document.body.append(f); f.submit()`,
      refresh: `const m = document.createElement("meta"); m.httpEquiv = "refresh"; m.content = "0; url=${base}/refresh"; document.head.append(m)`,
    };
    for (const [name, script] of Object.entries(ways)) {
      await window.run(script);
      await sleep(400);
      assert.ok((await window.run("return location.protocol + location.host")).includes("tauri"), `${name} did not leave the page`);
    }
    assert.deepEqual(hits, [], "nothing reached the sink");
    await fetch(`${base}/control`);
    assert.deepEqual(hits, ["/control"], "the sink does see requests");
  } finally {
    await desktop.stop();
    sink.close();
  }
});

test("the safety check in the settings plays every case in this program, and all hold", { timeout: 180_000 }, async () => {
  const desktop = await Desktop.start();
  try {
    const window = await desktop.open();
    await window.click("[data-testid=first-run-demo]");
    await window.click("[data-testid=first-run-start]");
    await window.click("[data-testid=nav-settings]");
    await window.click("[data-testid=settings-safety]");
    const states = () => window.run("return [...document.querySelectorAll('[data-testid=safety-case]')].map((row) => row.dataset.state)");
    const waiting = await until(async () => {
      const shown = await states();
      return shown.length > 14 ? shown : undefined;
    }, "the list of cases");
    assert.ok(waiting.every((state) => state === "waiting"), "nothing runs by itself");
    await window.click("[data-testid=safety-run]");
    await until(async () => !(await states()).some((state) => state === "waiting" || state === "running"), "the check to end", 120_000);
    const bad = await window.run("return [...document.querySelectorAll('[data-testid=safety-case]:not([data-state=held])')].map((row) => row.innerText)");
    assert.deepEqual(bad, [], "every case held");
  } finally {
    await desktop.stop();
  }
});
