// A small W3C WebDriver client, as much as these tests need.

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
// A screenshot may have to wait for a machine that is busy with something else.
const LIMIT = 60_000;

export class WebDriverError extends Error {}

/** One session with the window. */
export class Session {
  /** Starts the program through the driver. */
  static async start(base, binary) {
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": { binary, args: [] } } };
    const value = await request(base, "POST", "/session", { capabilities }, 60_000);
    return new Session(base, value.sessionId);
  }

  constructor(base, id) {
    this.base = base;
    this.path = `/session/${id}`;
  }

  call(method, path, body) {
    return request(this.base, method, this.path + path, body);
  }

  /** Runs a function body in the page; `arguments` are its arguments. */
  run(script, ...args) {
    return this.call("POST", "/execute/sync", { script, args });
  }

  async find(selector) {
    const found = await this.call("POST", "/elements", { using: "css selector", value: selector });
    return found.map((element) => element[ELEMENT]);
  }

  /** Waits until an element is there, and answers with the first one. */
  async wait(selector, limit = 20_000) {
    return until(async () => (await this.find(selector))[0], `an element ${selector}`, limit, () => this.describe());
  }

  /** What the page shows, for the message of a test that failed. */
  async describe() {
    try {
      const text = await this.run("return document.body.innerText");
      const errors = await this.run("return (window.__errors ?? []).join('\\n')");
      return `the page shows:\n${text.slice(0, 3000)}\n${errors}`;
    } catch (error) {
      return `the page does not answer: ${error.message}`;
    }
  }

  async click(selector, limit) {
    const element = await this.wait(selector, limit);
    await this.settled(element);
    await this.call("POST", `/element/${element}/click`, {});
  }

  /** Waits until an element has stopped moving: a click goes to a place, not to an element. */
  async settled(element) {
    let last = "";
    await until(async () => {
      const now = JSON.stringify(await this.call("GET", `/element/${element}/rect`));
      const still = now === last;
      last = now;
      return still;
    }, "an element to stop moving", 10_000);
  }

  async type(selector, text) {
    const element = await this.wait(selector);
    await this.call("POST", `/element/${element}/value`, { text });
  }

  /** Types into a field in place of what stands there. */
  async fill(selector, text) {
    const element = await this.wait(selector);
    await this.run("arguments[0].focus(); arguments[0].select()", { [ELEMENT]: element });
    await this.call("POST", `/element/${element}/value`, { text });
  }

  async text(selector) {
    const element = await this.wait(selector);
    return this.call("GET", `/element/${element}/text`);
  }

  /** Presses keys together, such as `chord("Control", "Enter")`. */
  async chord(...keys) {
    const codes = { Control: "\ue009", Shift: "\ue008", Enter: "\ue007", Escape: "\ue00c", Tab: "\ue004", F7: "\ue037" };
    const values = keys.map((key) => codes[key] ?? key);
    const actions = [
      ...values.map((value) => ({ type: "keyDown", value })),
      ...values.reverse().map((value) => ({ type: "keyUp", value })),
    ];
    await this.call("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** A PNG of the page. */
  async screenshot() {
    return Buffer.from(await this.call("GET", "/screenshot"), "base64");
  }

  resize(width, height) {
    return this.call("POST", "/window/rect", { width, height });
  }

  end() {
    return this.call("DELETE", "");
  }
}

async function request(base, method, path, body, limit = LIMIT) {
  const answer = await fetch(base + path, {
    method,
    headers: { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(limit),
  });
  const { value } = await answer.json();
  if (!answer.ok) throw new WebDriverError(`${method} ${path}: ${value?.error}: ${value?.message}`);
  return value;
}

/** Waits until `look` gives something, never longer than `limit` milliseconds. */
export async function until(look, what, limit = 20_000, explain = async () => "") {
  const end = Date.now() + limit;
  for (;;) {
    let last;
    try {
      const value = await look();
      if (value) return value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${limit} ms for ${what}\n${last ?? ""}\n${await explain()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
