// The rating page: puts its parts together.

import { Api } from "./rating/api.js";
import { Clock } from "./rating/clock.js";
import { helpDialog, otherDevice, singleKeys, zoomDialog } from "./rating/dialogs.js";
import { Items } from "./rating/items.js";
import { Keys } from "./rating/keys.js";
import { Page, filled } from "./rating/page.js";
import { Queue } from "./rating/queue.js";
import { widget } from "./rating/widgets.js";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("page-data").textContent);
const { words, session } = data;
const SLOW = 800;

let page = null;
let slow = 0;
let why = "waiting";

function problem(sentence) {
  byId("problem").hidden = sentence === "";
  byId("problem-text").textContent = sentence;
}

function state(name, count) {
  clearTimeout(slow);
  if (name === "saving") {
    if (byId("save").dataset.state === "saved") slow = setTimeout(() => tell("saving", words.saving), SLOW);
    else if (byId("save").dataset.state === "waiting") tell("waiting", filled(kept(why), { count }));
    return;
  }
  if (name === "nobody" || name === "somebody") problem(words[name]);
  if (name === "closed" && !page.held) {
    problem(words.closed);
    page.hold(true);
  }
  why = name;
  if (name === "saved") tell("saved", words.saved);
  else tell("waiting", filled(kept(name), { count }));
}

function kept(name) {
  return { busy: words.waiting_busy, closed: words.waiting_closed }[name] ?? words.waiting;
}

// The batch takes answers again: the rater goes on where they were.
function reopened() {
  if (!page.held) return;
  problem("");
  page.hold(false);
}

function tell(name, sentence) {
  byId("save").dataset.state = name;
  const place = byId("save").querySelector(".save-text");
  if (place.textContent !== sentence) place.textContent = sentence;
}

function refused(entry, error) {
  reopened();
  page.refused(entry, error);
  problem(filled(words.refused, { why: error.message }));
}

const api = new Api(data.root, session.csrf, session.language);
const queue = new Queue(api, session.rater, {
  changed: state,
  saved: (entry, body, left) => {
    reopened();
    page.saved(entry, body, left);
  },
  refused,
});
const items = new Items(api, data.window, data.ahead, (assignment) => queue.pending(assignment));
const clock = new Clock(session.progress.seconds, (seconds) => {
  const count = Math.round(seconds / 60);
  byId("time").textContent = count < 1 ? words.moment : filled(words.minutes, { count });
});
const questions = [...document.querySelectorAll(".question")].map((root) => widget(root, answered, words));
page = new Page({ data, api, items, queue, questions, clock });

function answered(question) {
  page.answered(question);
}

// A finger or a pointer does not take the focus along: bring the next question into view.
function reveal(event) {
  const root = event.target.closest(".question");
  if (!root || event.detail === 0 || !event.target.matches("input")) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  root.nextElementSibling?.scrollIntoView({ block: "nearest", behavior: still ? "auto" : "smooth" });
}

// After a finger no ring is shown around what has the focus; a key brings it back.
function byTouch(touch) {
  document.body.classList.toggle("by-touch", touch);
}

async function finish() {
  byId("finish").disabled = true;
  await queue.whenEmpty();
  const { status, body } = await api.post("/api/finish", {});
  byId("finish").disabled = false;
  if (status === 200) location.assign(body.url);
  else if (body?.error?.key === "rating.not_finished") location.assign(`${data.root}/rate`);
  else problem(body?.error?.message ?? words.not_now);
}

async function language(event) {
  event.preventDefault();
  const wanted = event.submitter.value;
  page.flush();
  queue.wake();
  const { status, body } = await api.post("/api/language", { language: wanted });
  if (status === 200) queue.leave();
  if (status === 200) location.assign(`${data.root}/rate?at=${page.number}`);
  else problem(body?.error?.message ?? words.not_now);
}

const open = { help: helpDialog(), zoom: zoomDialog() };
singleKeys(new Keys(page, questions, open));
otherDevice(api, words);
byId("next").addEventListener("click", () => page.next());
byId("back").addEventListener("click", () => page.back());
byId("finish").addEventListener("click", finish);
byId("problem-close").addEventListener("click", () => problem(""));
byId("questions").addEventListener("submit", (event) => event.preventDefault());
byId("questions").addEventListener("click", reveal);
byId("language-form")?.addEventListener("submit", language);
window.addEventListener("online", () => queue.wake());
window.addEventListener("pagehide", () => {
  page.leave();
  queue.wake();
});
document.addEventListener("visibilitychange", () => queue.wake());
byTouch(matchMedia("(hover: none)").matches);
document.addEventListener("pointerdown", (event) => byTouch(event.pointerType === "touch"));
document.addEventListener("keydown", () => byTouch(false), true);
page.go(data.at);
queue.run();
