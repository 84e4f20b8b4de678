// The page: which item is shown, what was answered in it, where one goes from there.

import { pauseAfter } from "./api.js";

const SETTLE = 300;
const byId = (id) => document.getElementById(id);

export function filled(sentence, fields) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => String(fields[name] ?? whole));
}

export class Page {
  constructor({ data, api, items, queue, questions, clock }) {
    Object.assign(this, { api, items, queue, questions, clock, words: data.words, root: data.root });
    this.language = data.session.language;
    this.total = data.session.progress.total;
    this.done = data.session.progress.done;
    this.number = 0;
    this.undone = [];
    this.turn = 0;
  }

  get item() {
    return this.items.at(this.number);
  }

  get atEnd() {
    return this.number > this.total;
  }

  // Go to an item; behind the last one stand the words of the end.
  async go(number, { focus = true } = {}) {
    this.leave();
    this.turn += 1;
    const turn = this.turn;
    this.number = Math.max(1, Math.min(number, this.total + 1));
    if (this.atEnd) return this.#end(focus);
    let failures = 0;
    while (!this.item) {
      this.#face("waiting");
      failures += 1;
      const came = await this.items.prepare(this.number);
      if (turn !== this.turn) return undefined;
      this.total = this.items.total;
      if (this.atEnd) return this.#end(focus);
      if (!came || !this.item) await this.#calm(failures);
      if (turn !== this.turn) return undefined;
    }
    this.#face("desk");
    this.#show(this.item);
    if (focus) this.#begin();
    return this.items.prepare(this.number);
  }

  next() {
    if (this.atEnd || !this.item) return;
    this.flush();
    const lacking = this.lacking();
    if (lacking.length && !this.item.gone) {
      this.questions.forEach((question) => question.lacks(lacking.includes(question)));
      lacking[0].focus();
      this.say(filled(this.words.missing, { number: lacking[0].number }));
      return;
    }
    this.go(this.number + 1);
  }

  back() {
    if (this.number > 1) this.go(this.number - 1);
  }

  // Take the last answer of this item back; without one, go to the item before.
  undo() {
    const step = this.held ? undefined : this.undone.pop();
    if (!step || this.atEnd) {
      this.back();
      return;
    }
    step.question.value = step.before;
    this.#keep(step.question, { undoing: true });
    step.question.focus();
    this.say(this.words.undone);
  }

  // A question has been answered; nothing happens where it stands as it did.
  answered(question) {
    if (this.item && !this.atEnd) this.#keep(question, { undoing: false });
  }

  lacking() {
    return this.questions.filter((question) => question.required && question.value === null);
  }

  // Take what is being typed as it stands.
  flush() {
    if (this.item && !this.atEnd) this.questions.forEach((question) => question.flush());
  }

  leave() {
    this.flush();
    this.clock.watch(null);
  }

  say(sentence) {
    byId("told").textContent = sentence;
  }

  get held() {
    return byId("questions").inert;
  }

  // While the batch is closed nothing can be answered; afterwards the page goes on where it was.
  hold(yes) {
    byId("questions").inert = yes;
    if (!yes && this.item && !byId("desk").hidden) this.#begin();
  }

  // An answer is saved: its item, and the rater's numbers when nothing else is on its way.
  saved(entry, body, left) {
    const item = this.items.of(entry.assignment);
    if (item) item.saved[entry.question] = { value: entry.value, comment: entry.comment };
    if (left === 0) {
      this.done = body.done;
      if (!this.atEnd) this.#count(body.total);
    }
    this.#progress();
  }

  // How many items there are now. The one that is shown can still be answered, also where the rest went to others.
  #count(total) {
    this.total = this.items.total = Math.max(total, this.number);
  }

  // An answer is refused: the page shows what is saved.
  refused(entry, why) {
    const item = this.items.of(entry.assignment);
    if (item && !this.queue.pending(entry.assignment).has(entry.question)) {
      const before = complete(item, this.questions);
      if (item.saved[entry.question]) item.answers[entry.question] = { ...item.saved[entry.question] };
      else delete item.answers[entry.question];
      item.gone = item.gone || why?.key === "annotation.not_yours";
      this.done += Number(complete(item, this.questions)) - Number(before);
      if (item === this.item) {
        const question = this.questions.find((one) => one.id === entry.question);
        question?.show(item.answers[entry.question]);
      }
    }
    this.#progress();
  }

  #keep(question, { undoing }) {
    const item = this.item;
    const before = item.answers[question.id] ?? { value: null, comment: "" };
    const now = { value: question.value, comment: question.comment };
    if (now.value === before.value && now.comment === before.comment) return;
    const was = complete(item, this.questions);
    item.answers[question.id] = now;
    this.done += Number(complete(item, this.questions)) - Number(was);
    question.lacks(false);
    if (!undoing && now.value !== before.value) this.undone.push({ question, before: before.value });
    const bare = now.value === null && before.value === null;
    if (!bare) {
      this.queue.put({
        assignment: item.assignment, question: question.id, language: this.language, ...now,
        comment: now.value === null ? "" : now.comment, seconds: this.clock.of(item),
      }, question.typed ? 0 : SETTLE);
    }
    this.#progress();
    if (!was && complete(item, this.questions)) this.#complete();
  }

  #complete() {
    const writing = document.activeElement?.matches("textarea");
    this.say(writing ? this.words.complete_writing : this.words.complete);
  }

  #show(item) {
    const image = this.items.image(item);
    byId("frame").hidden = !image;
    byId("zoom-open").querySelector("img")?.remove();
    if (image) byId("zoom-open").prepend(image);
    word(byId("item-text"), item.text);
    if (byId("prompt")) word(byId("prompt"), item.prompt);
    for (const question of this.questions) {
      if (question.ofItem) askedWords(question.root.querySelector(".words"), item.prompt);
      question.show(item.answers[question.id]);
    }
    this.undone = [];
    this.clock.watch(item);
    const where = filled(this.words.item, { number: this.number, total: this.total });
    byId("where").textContent = where;
    byId("foot-where").textContent = `${this.number} / ${this.total}`;
    byId("back").disabled = this.number === 1;
    byId("next").hidden = false;
    this.say(where);
    window.scrollTo(0, 0);
    this.#progress();
  }

  // The first question without an answer has the focus: in a new item the first one.
  #begin() {
    const first = this.lacking()[0] ?? this.questions.find((one) => one.required || !one.typed) ?? this.questions[0];
    const touch = matchMedia("(hover: none)").matches;
    if (first.typed && touch) byId("main").focus({ preventScroll: true });
    else first.focus({ preventScroll: true });
  }

  async #end(focus) {
    if (this.done < this.total) {
      const open = await this.#firstOpen();
      if (open && this.atEnd) return this.go(open, { focus });
    }
    this.#face("all-done");
    byId("where").textContent = byId("all-done-heading").textContent;
    byId("foot-where").textContent = "";
    byId("back").disabled = false;
    byId("next").hidden = true;
    this.#progress();
    if (focus) byId("all-done-heading").focus();
    return undefined;
  }

  // The first item that is not complete, as far as is known here, else as the service says.
  async #firstOpen() {
    for (let number = 1; number <= this.total; number += 1) {
      const item = this.items.at(number);
      if (item && !item.gone && !complete(item, this.questions)) return number;
    }
    await Promise.race([this.queue.whenEmpty(), new Promise((resolve) => { setTimeout(resolve, 3000); })]);
    const { status, body } = await this.api.get("/api/session");
    return status === 200 ? body.progress.first_open : null;
  }

  #face(shown) {
    for (const id of ["desk", "waiting", "all-done"]) byId(id).hidden = id !== shown;
    byId("next").disabled = shown === "waiting";
    if (shown !== "waiting") return;
    byId("foot-where").textContent = `${this.number} / ${this.total}`;
    this.say(byId("waiting").querySelector("h2").textContent);
  }

  #progress() {
    const done = Math.max(0, Math.min(this.done, this.total));
    byId("progress-text").textContent = filled(this.words.progress, { done, total: this.total });
    byId("progress").max = this.total;
    byId("progress").value = done;
  }

  #calm(failures) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseAfter(failures));
      window.addEventListener("online", () => { clearTimeout(timer); resolve(); }, { once: true });
    });
  }
}

function complete(item, questions) {
  return questions.every((question) => !question.required || (item.answers[question.id]?.value ?? null) !== null);
}

function word(place, wording) {
  place.hidden = wording === null;
  place.textContent = wording?.text ?? "";
  place.lang = wording?.lang ?? "";
  if (!wording?.lang) place.removeAttribute("lang");
}

// A question of the item is worded by the item's prompt; for items without one it has words of its own.
function askedWords(place, prompt) {
  const { own, ownLang, usual } = place.dataset;
  word(place, prompt ?? (own ? { text: own, lang: ownLang } : { text: usual, lang: "" }));
}
