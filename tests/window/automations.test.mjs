// Schedules and the webhook in the real program, with the window closed: each ends at a card with a notification, the disk
// unchanged; a yes in the window that is opened again, or on the command line, completes them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Desktop, binary, manifest, repository, sleep } from "./desktop.mjs";
import { until } from "./webdriver.mjs";

const run = promisify(execFile);
const pilot = process.env.POCKETPILOT_PILOT ?? path.join(repository, "target/debug/pilot");
const GOAL = "Summarise the invoices in this folder";

/** The command line on the data of the running program. */
async function rows(desktop, ...args) {
  const { stdout } = await run(pilot, ["--json", ...args], { env: desktop.env });
  return stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

const cards = (desktop) => rows(desktop, "approvals", "list");
const status = async (desktop, task) => (await rows(desktop, "tasks", "show", task))[0].status;

/** Says yes on the command line until the task has ended. Where the file changed since the card, a new card comes first. */
async function approve(desktop, task) {
  await until(async () => {
    for (const card of (await cards(desktop)).filter((card) => card.task === task)) {
      await rows(desktop, "approvals", "approve", card.id).catch((error) => assert.match(error.stdout, /approval_stale/));
    }
    return (await status(desktop, task)) === "completed";
  }, "the task to end", 60_000);
}

test("a schedule and curl stop at cards while the window is closed, and a yes completes them", { timeout: 300_000 }, async () => {
  const desktop = await Desktop.start();
  try {
    const window = await desktop.open();
    await window.click("[data-testid=first-run-demo]");
    await window.click("[data-testid=first-run-start]");
    await window.wait("[data-testid=goal-input]");
    const folder = path.join(desktop.home, "PocketPilot Demo");
    const before = manifest(folder);

    // A webhook, with its token shown once and a real test request.
    await window.click("[data-testid=nav-automations]");
    await window.click("[data-testid=channel-new]");
    await window.fill("[data-testid=channel-name]", "Scanner");
    await window.click("[data-testid=channel-save]");
    await window.wait("[data-testid=channel-token]");
    const token = await window.run("return document.querySelector('[data-testid=channel-token]').value");
    const curl = await window.run("return document.querySelector('dialog [data-testid=curl]').textContent");
    assert.match(token, /^ppt_[0-9a-f]{64}$/, "the token is shown");
    await until(async () => (await window.run("return document.querySelector('[data-testid=webhook-state]').dataset.state")) === "listening", "the webhook to listen");
    await window.click("[data-testid=channel-test]");
    await window.wait("[data-testid=channel-tested]");
    await window.click("[data-testid=channel-done]");

    // The window is closed; the program stays.
    await desktop.command("wmctrl", "-c", "PocketPilot");
    await desktop.event("hidden");

    // The very command that the window shows, with the goal of the demo.
    const notified = desktop.events("notified").length;
    const command = curl.replace('{"text": "scan-1130.pdf"}', JSON.stringify({ text: GOAL }));
    const { stdout } = await run("sh", ["-c", command], { env: { ...desktop.env, PP_TOKEN: token } });
    const called = JSON.parse(stdout).task;
    assert.ok(called, `curl gets the task: ${stdout}`);
    const first = await desktop.event("notified", notified);
    assert.equal(await status(desktop, called), "waiting_approval", "the webhook's task stops at its card");
    assert.deepEqual(manifest(folder), before, "the disk is unchanged");

    // Each minute, from the command line beside the running program.
    const [schedule] = await rows(desktop, "schedules", "add", "* * * * *", GOAL, "--workspace", folder);
    const second = await until(async () => {
      const card = desktop.events("notified").map((event) => event.detail).find((card) => card !== first && desktop.events("notified").length > notified + 1);
      return card;
    }, "a notification of the schedule's card", 120_000);
    await rows(desktop, "schedules", "pause", schedule.id);
    assert.deepEqual(manifest(folder), before, "the disk is still unchanged");
    const waiting = await cards(desktop);
    const scheduled = waiting.find((card) => card.id === second);
    assert.equal(scheduled.channel, "schedule", "the card says where it comes from");
    assert.equal(await status(desktop, scheduled.task), "waiting_approval", "and its task waits");

    // One is decided in the window that is opened again, the other one on the command line.
    await desktop.command(binary);
    await window.run(`location.hash = "#/inbox/${first}"`);
    await window.wait("[data-testid=approval-card]");
    await sleep(900);
    await window.click("[data-testid=approve-button][aria-disabled=false]");
    await until(async () => (await status(desktop, called)) === "completed", "the webhook's task to end", 60_000);
    await approve(desktop, scheduled.task);
    assert.notDeepEqual(manifest(folder), before, "after a person's yes the reports stand there");
    await window.click("[data-testid=nav-automations]");
    await window.wait("[data-testid=schedule-row]");
    await window.click("[data-testid=schedule-open]");
    await sleep(500);
    await desktop.picture("automations-en-light");
    await window.run("document.documentElement.dataset.theme = 'dark'");
    await sleep(300);
    await desktop.picture("automations-en-dark");
    assert.deepEqual(await window.run("return window.__errors"), [], "no error and no violation of the content policy on the way");
  } finally {
    await desktop.stop();
  }
});
