// Answers on their way. Each has a random key and stands in the browser's storage until the service has answered, so
// that none is lost; the service applies a key once, so that none counts twice.

import { PATIENCE, pauseAfter } from "./api.js";

const REFUSED = new Set([400, 404, 409, 410, 413, 422]);
// A closed batch is asked often whether it is open again, and seldom after some minutes.
const CLOSED_STEP = 3;
const CLOSED_ATTEMPTS = 100;

function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

// The browser's storage. Where the browser refuses it, answers are held by the open page alone.
class Shelf {
  constructor(prefix) {
    this.prefix = prefix;
    this.storage = usable();
  }

  read() {
    const names = Object.keys(this.storage ?? {}).filter((name) => name.startsWith(this.prefix));
    return names.sort().map((name) => ({ ...JSON.parse(this.storage.getItem(name)), ready: 0 }));
  }

  // A full storage refuses; what stands in it can still be taken out.
  write(entry) {
    try {
      this.storage?.setItem(this.prefix + entry.id, JSON.stringify(entry));
    } catch (error) {
      console.info(error);
    }
  }

  remove(entry) {
    this.storage?.removeItem(this.prefix + entry.id);
  }
}

function usable() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

export class Queue {
  // told: { changed(state, count), saved(entry, body), refused(entry, error) }
  constructor(api, rater, told) {
    this.api = api;
    this.rater = rater;
    this.told = told;
    this.shelf = new Shelf(`voirdire.answer.${rater}.`);
    this.entries = this.shelf.read();
    this.latest = Math.max(0, ...this.entries.map((entry) => parseInt(entry.id, 10)));
    this.failures = 0;
    this.flying = null;
    this.running = false;
    this.leaving = 0;
    this.kept = [];
    this.emptied = [];
    this.rouse = () => {};
    window.addEventListener("storage", (event) => this.#elsewhere(event));
    window.addEventListener("beforeunload", () => this.leave());
  }

  // The next page is asked for. What is saved from now on may be saved too late to stand in it: it stays in the storage,
  // is shown from there, and is sent once more with the same key, which counts once. Where no page comes, it goes.
  leave() {
    clearTimeout(this.leaving);
    this.leaving = setTimeout(() => {
      this.leaving = 0;
      this.kept.splice(0).forEach((entry) => this.shelf.remove(entry));
    }, PATIENCE);
  }

  get size() {
    return this.entries.length;
  }

  // What was answered in an item and has not been saved yet: question -> entry.
  pending(assignment) {
    return new Map(this.entries.filter((entry) => entry.assignment === assignment).map((entry) => [entry.question, entry]));
  }

  // settle: milliseconds in which a further answer to the same question takes the place of this one
  put(answer, settle = 0) {
    const same = (entry) => entry.assignment === answer.assignment && entry.question === answer.question;
    const older = this.entries.filter((entry) => same(entry) && entry !== this.flying);
    const key = randomKey();
    this.latest = Math.max(this.latest + 1, Date.now());
    const entry = { ...answer, key, id: `${String(this.latest).padStart(15, "0")}.${key}`, ready: performance.now() + settle };
    older.forEach((one) => this.shelf.remove(one));
    this.shelf.write(entry);
    this.entries = [...this.entries.filter((one) => !older.includes(one)), entry];
    this.told.changed("saving", this.size);
    this.run();
  }

  // Send now, without waiting for further answers or for the end of a pause.
  wake() {
    this.entries.forEach((entry) => { entry.ready = 0; });
    this.rouse();
    this.run();
  }

  whenEmpty() {
    if (!this.size) return Promise.resolve();
    return new Promise((resolve) => { this.emptied.push(resolve); });
  }

  async run() {
    if (this.running) return;
    this.running = true;
    while (this.size) {
      const entry = this.entries[0];
      if (entry.gone) {
        this.#drop(entry);
        continue;
      }
      const early = entry.ready - performance.now();
      if (early > 0) {
        await this.#pause(early);
        continue;
      }
      const wait = await this.#send(entry);
      if (wait > 0) await this.#pause(wait);
    }
    this.running = false;
    this.told.changed("saved", 0);
    this.emptied.splice(0).forEach((resolve) => resolve());
  }

  #pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.rouse = () => { clearTimeout(timer); resolve(); };
    });
  }

  // Another window has saved this answer, or another one stands in its place there: sent from here, it would come last.
  #elsewhere({ key, newValue }) {
    const entry = newValue === null && this.entries.find((one) => this.shelf.prefix + one.id === key);
    if (!entry) return;
    entry.gone = true;
    if (!this.flying) this.rouse();
  }

  #drop(entry) {
    if (this.leaving) this.kept.push(entry);
    else this.shelf.remove(entry);
    this.entries = this.entries.filter((one) => one !== entry);
    this.failures = 0;
  }

  // Send one answer; how long to wait before the next attempt.
  async #send(entry) {
    const { key, assignment, question, value, comment, language, seconds } = entry;
    this.flying = entry;
    const { status, body, pause } = await this.api.post(
      "/api/answers", { key, assignment, question, value, comment, language, seconds }, true,
    );
    this.flying = null;
    if (status === 200) {
      this.#drop(entry);
      this.told.saved(entry, body, this.size);
      return 0;
    }
    const closed = body?.error?.key === "annotation.closed";
    if (REFUSED.has(status) && !closed) {
      this.#drop(entry);
      this.told.refused(entry, body.error ?? { key: "", message: String(status) });
      return 0;
    }
    this.failures += 1;
    if (closed) {
      this.told.changed("closed", this.size);
      return pauseAfter(this.failures < CLOSED_ATTEMPTS ? Math.min(this.failures, CLOSED_STEP) : this.failures);
    }
    const state = status === 401 ? "nobody" : status === 403 ? await this.#renewed() : status === 0 ? "waiting" : "busy";
    if (state === "renewed" && this.failures < 3) return 0;
    this.told.changed(state === "renewed" ? "busy" : state, this.size);
    return Math.max(1000 * Math.min(pause, 60), pauseAfter(this.failures));
  }

  // The session may have begun anew in another window: take its token if it is the same rater's.
  async #renewed() {
    const { status, body } = await this.api.get("/api/session");
    if (status === 401) return "nobody";
    if (status !== 200) return status === 0 ? "waiting" : "busy";
    if (body.rater !== this.rater) return "somebody";
    this.api.csrf = body.csrf;
    return "renewed";
  }
}
