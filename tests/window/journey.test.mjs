// The main job in the real window: first run, goal, card, yes, undo; in both languages.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Desktop, manifest, repository, sleep } from "./desktop.mjs";
import { until } from "./webdriver.mjs";

const truth = JSON.parse(fs.readFileSync(path.join(repository, "evals/demo-truth.json"), "utf8"));
const WORDS = {
  en: { folder: "PocketPilot Demo", title: "Waiting for your approval" },
  zh: { folder: "PocketPilot 演示", title: "等你审批" },
};
const grouped = (amount) => Number(amount).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

for (const language of ["en", "zh"]) {
  test(`from first run to an approved report and back, ${language}`, { timeout: 180_000 }, async () => {
    const desktop = await Desktop.start({ language });
    try {
      const window = await desktop.open();
      await window.wait("[data-testid=first-run-demo]");
      await desktop.picture(`first-run-${language}-light`);
      await window.click("[data-testid=first-run-demo]");
      await window.click("[data-testid=first-run-start]");
      await window.wait("[data-testid=goal-input]");

      const folder = path.join(desktop.home, WORDS[language].folder);
      const before = manifest(folder);
      assert.deepEqual(before, manifest(path.join(repository, "demo-workspace")), "the demo folder is a copy of the committed one");

      await desktop.picture(`tasks-${language}-light`);
      await window.fill("[data-testid=goal-input]", truth.goal[language]);
      await window.click("[data-testid=goal-send]");
      const card = await desktop.event("notified");
      assert.equal(await until(() => desktop.notifications(), "a notification"), 1, "one card, one notification");
      assert.deepEqual(manifest(folder), before, "a waiting card has changed nothing in the folder");

      const opened = desktop.events("open_card").length;
      await desktop.clickNotification();
      assert.equal(await desktop.event("open_card", opened), card, "a click on the notification opens that card");
      await window.wait("[data-testid=approval-card]");
      await sleep(900);
      assert.deepEqual(manifest(folder), before, "and decides nothing");
      await desktop.picture(`card-${language}-light`);
      await window.run("document.documentElement.dataset.theme = 'dark'");
      await sleep(300);
      await desktop.picture(`card-${language}-dark`);
      await window.run("document.documentElement.dataset.theme = 'light'");

      await window.click("[data-testid=approve-button][aria-disabled=false]");
      const report = await until(() => Object.keys(manifest(folder)).find((name) => !(name in before)), "the report on disk");
      const text = fs.readFileSync(path.join(folder, report), "utf8");
      for (const [currency, total] of Object.entries(truth.totals)) {
        assert.ok(text.includes(grouped(total)), `the total of ${currency}, ${grouped(total)}, stands in the report:\n${text}`);
      }
      assert.equal(await until(async () => (await desktop.notifications()) === 0, "the notification to be withdrawn"), true);
      await window.wait("[data-testid=artifact-undo]");
      await sleep(500);
      await desktop.picture(`written-${language}-light`);

      await window.click("[data-testid=artifact-undo]");
      await window.wait("[data-testid=undo-confirm]");
      await desktop.picture(`undo-${language}-light`);
      await window.click("[data-testid=undo-confirm]");
      await until(() => !(report in manifest(folder)), "the report to be taken back");
      assert.deepEqual(manifest(folder), before, "undo brings the folder back, byte for byte");
      assert.deepEqual(await window.run("return window.__errors"), [], "no error and no violation of the content policy on the way");
    } finally {
      await desktop.stop();
    }
  });
}
