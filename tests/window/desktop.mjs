// A desktop of its own for one test: bus, screen, window manager, notification server, tray; and the program in it.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Session, until } from "./webdriver.mjs";

const run = promisify(execFile);
const here = path.dirname(fileURLToPath(import.meta.url));
export const repository = path.resolve(here, "../..");
export const binary = process.env.POCKETPILOT_APP ?? path.join(repository, "target/debug/pocketpilot");
export const images = path.join(repository, "docs/images");

// No service directories: nothing starts by itself, so a test without a keyring really has none.
const BUS = `<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`;

const DUNST = `[global]
origin=top-left
offset=10x10
width=300
mouse_left_click=do_action, close_current
idle_threshold=0
`;

export class Desktop {
  constructor() {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "pocketpilot-window-"));
    this.children = [];
    this.home = path.join(this.folder, "home");
    this.log = path.join(this.folder, "events.log");
    fs.mkdirSync(this.home, { mode: 0o700 });
    fs.writeFileSync(this.log, "");
  }

  /** Starts everything but the program. */
  static async start({ language = "en", dark = false, tray = true, notifications = true } = {}) {
    const desktop = new Desktop();
    const runtime = path.join(desktop.folder, "runtime");
    fs.mkdirSync(runtime, { mode: 0o700 });
    const kept = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(GTK_|WAYLAND|DBUS|XDG_|DISPLAY|LANG|LC_|POCKETPILOT|WEBKIT|TAURI)/.test(name)),
    );
    desktop.env = {
      ...kept,
      HOME: desktop.home,
      XDG_RUNTIME_DIR: runtime,
      XDG_DATA_HOME: path.join(desktop.home, ".local/share"),
      XDG_CONFIG_HOME: path.join(desktop.home, ".config"),
      XDG_CACHE_HOME: path.join(desktop.home, ".cache"),
      NO_AT_BRIDGE: "1",
      GTK_A11Y: "none",
      GIO_USE_VFS: "local",
      LANG: language === "zh" ? "zh_CN.UTF-8" : "C.UTF-8",
      PP_TEST_LOG: desktop.log,
      ...(dark ? { GTK_THEME: "Adwaita:dark" } : {}),
    };
    await desktop.startBus();
    await desktop.startScreen();
    if (tray) await desktop.startTray();
    if (notifications) await desktop.startNotifications();
    return desktop;
  }

  spawn(command, args, options = {}) {
    const child = spawn(command, args, { env: this.env, stdio: ["ignore", "pipe", "pipe"], ...options });
    child.stderr?.on("data", (data) => fs.appendFileSync(path.join(this.folder, `${path.basename(command)}.err`), data));
    this.children.push(child);
    return child;
  }

  async startBus() {
    const config = path.join(this.folder, "bus.conf");
    fs.writeFileSync(config, BUS);
    const bus = this.spawn("dbus-daemon", ["--nofork", "--nopidfile", "--print-address=1", `--config-file=${config}`]);
    const [address] = await once(createInterface(bus.stdout), "line");
    this.env.DBUS_SESSION_BUS_ADDRESS = address;
  }

  async startScreen() {
    const screen = this.spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1920x1400x24", "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    const [display] = await once(createInterface(screen.stdio[3]), "line");
    this.env.DISPLAY = `:${display}`;
    this.spawn("openbox", ["--sm-disable"]);
  }

  async startTray() {
    const tray = this.spawn("/usr/bin/python3", [path.join(here, "tray_watcher.py")]);
    this.trayItem = once(createInterface(tray.stdout), "line").then(([line]) => line.split(" "));
    await until(() => this.owns("org.kde.StatusNotifierWatcher"), "the tray");
  }

  async startNotifications() {
    const config = path.join(this.folder, "dunstrc");
    fs.writeFileSync(config, DUNST);
    this.spawn("dunst", ["-config", config]);
    await until(() => this.owns("org.freedesktop.Notifications"), "the notification server");
  }

  async owns(name) {
    const args = ["call", "--session", "-d", "org.freedesktop.DBus", "-o", "/org/freedesktop/DBus", "-m", "org.freedesktop.DBus.NameHasOwner", name];
    const { stdout } = await run("gdbus", args, { env: this.env });
    return stdout.includes("true");
  }

  /** Starts the program under the driver, and waits until it is painted. */
  async open() {
    const port = await freePort();
    const driver = this.spawn("WebKitWebDriver", [`--port=${port}`], {
      env: { ...this.env, TAURI_WEBVIEW_AUTOMATION: "true", TAURI_AUTOMATION: "true" },
    });
    driver.stdout.resume();
    await until(() => reachable(port), "the driver");
    const before = this.events("painted").length;
    this.session = await Session.start(`http://127.0.0.1:${port}`, binary);
    await this.session.resize(1280, 800);
    await until(() => this.events("painted").length > before, "the first paint", 30_000, () => this.session.describe());
    await this.session.run(`
      window.__errors = [];
      addEventListener("error", (event) => window.__errors.push("error: " + event.message));
      addEventListener("unhandledrejection", (event) => window.__errors.push("rejection: " + String(event.reason?.message ?? event.reason)));
      addEventListener("securitypolicyviolation", (event) => window.__errors.push("csp: " + event.effectiveDirective + " " + event.blockedURI));
    `);
    return this.session;
  }

  /** Ends the program and its driver; the desktop stays. */
  async quit() {
    await this.session?.end().catch(() => {});
    this.session = undefined;
  }

  /** Lines of the program's test log with this event. */
  events(name) {
    const lines = fs.readFileSync(this.log, "utf8").split("\n");
    lines.pop();
    return lines.map((line) => JSON.parse(line)).filter((line) => line.event === name);
  }

  /** Waits for the next event of a name after `count` of them. */
  async event(name, count = 0) {
    await until(() => this.events(name).length > count, `the event ${name}`, 30_000, async () => (await this.session?.describe()) ?? "");
    return this.events(name)[count].detail;
  }

  async notifications() {
    const { stdout } = await run("dunstctl", ["count", "displayed"], { env: this.env });
    return Number(stdout.trim());
  }

  /** Clicks the notification on screen: its default action. */
  clickNotification() {
    return run("dunstctl", ["action", "0"], { env: this.env });
  }

  command(name, ...args) {
    return run(name, args, { env: this.env });
  }

  /** Saves what the window shows as `docs/images/NAME.png`. */
  async picture(name) {
    fs.mkdirSync(images, { recursive: true });
    fs.writeFileSync(path.join(images, `${name}.png`), await this.session.screenshot());
  }

  async stop() {
    await this.quit();
    for (const child of this.children.reverse()) child.kill("SIGTERM");
    await Promise.all(this.children.map((child) => (child.exitCode === null && child.signalCode === null ? Promise.race([once(child, "exit"), sleep(3_000)]) : null)));
    for (const child of this.children) child.kill("SIGKILL");
    if (!process.env.POCKETPILOT_KEEP) fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

export const sleep = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function reachable(port) {
  const answer = await fetch(`http://127.0.0.1:${port}/status`, { signal: AbortSignal.timeout(1_000) });
  return answer.ok;
}

/** Every file below a folder with its bytes, for "nothing has changed". */
export function manifest(folder) {
  const found = {};
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const place = path.join(entry.parentPath ?? entry.path, entry.name);
    found[path.relative(folder, place)] = fs.readFileSync(place).toString("base64");
  }
  return found;
}
