// One question on the page: showing a value, and noticing one. Texts go in and out as text only.

const NONE = "not_applicable";
const TYPING = 700;
// A number such as 1,000: one thousand to some, one to others. It is sent as it stands, and the service asks again.
const AMBIGUOUS = /^-?[1-9]\d{0,2}(,\d{3})+$/;

// changed(question, typed): the rater has answered; typed says that more may follow
export function widget(root, changed, words) {
  const kinds = { number: Typed, text: Typed, range: Range };
  return new (kinds[root.dataset.widget] ?? Chosen)(root, changed, words);
}

class Question {
  constructor(root, changed, words) {
    this.root = root;
    this.id = root.dataset.question;
    this.number = Number(root.dataset.number);
    this.required = "required" in root.dataset;
    this.ofItem = "ofItem" in root.dataset;
    this.words = words;
    this.changed = () => changed(this);
    this.note = root.querySelector(".comment textarea");
    this.noteBox = root.querySelector(".comment");
    this.timer = 0;
    this.note?.addEventListener("input", () => this.later());
    this.note?.addEventListener("blur", () => this.flush());
  }

  get comment() {
    return this.note ? this.note.value.trim() : "";
  }

  get typed() {
    return false;
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), TYPING);
  }

  // Take what is being typed as it stands now.
  flush() {
    clearTimeout(this.timer);
    this.changed();
  }

  show(answer) {
    clearTimeout(this.timer);
    this.root.classList.remove("lacks");
    if (this.note) {
      this.note.value = answer?.comment ?? "";
      this.noteBox.open = this.note.value !== "";
    }
    this.value = answer?.value ?? null;
  }

  lacks(yes) {
    this.root.classList.toggle("lacks", yes);
  }
}

class Chosen extends Question {
  constructor(root, changed, words) {
    super(root, changed, words);
    this.inputs = [...root.querySelectorAll(".answers input[type=radio]")];
    this.levels = this.inputs.filter((input) => input.value !== NONE);
    root.addEventListener("change", (event) => {
      if (this.inputs.includes(event.target)) this.changed();
    });
    const track = root.querySelector(".track");
    if (track) slide(track, this.levels, () => this.changed());
  }

  get value() {
    return this.inputs.find((input) => input.checked)?.value ?? null;
  }

  set value(value) {
    this.inputs.forEach((input) => { input.checked = input.value === value; });
  }

  // Choose the level of a key, or "does not apply" by 0; false where there is none.
  choose(digit) {
    const level = this.levels.find((one) => one.dataset.key === String(digit));
    const input = level ?? (digit === 0 ? this.inputs.find((one) => one.value === NONE) : undefined);
    if (!input) return false;
    const before = this.value;
    input.checked = true;
    if (before !== input.value) this.changed();
    return true;
  }

  focus() {
    (this.inputs.find((input) => input.checked) ?? this.inputs[0]).focus();
  }
}

class Range extends Question {
  constructor(root, changed, words) {
    super(root, changed, words);
    this.input = root.querySelector("input[type=range]");
    this.box = root.querySelector(".range");
    this.output = root.querySelector("output");
    this.none = root.querySelector(".none input");
    this.input.addEventListener("input", () => this.#set(this.input.value));
    this.input.addEventListener("change", () => this.#take());
    this.input.addEventListener("pointerup", () => this.#take());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === " ") this.#take();
    });
    this.none?.addEventListener("change", () => {
      this.#set(null, this.none.checked);
      this.changed();
    });
  }

  get value() {
    if (this.none?.checked) return NONE;
    return this.box.classList.contains("unset") ? null : this.input.value;
  }

  set value(value) {
    this.#set(value === NONE ? null : value, value === NONE);
    this.taken = value;
  }

  #take() {
    const before = this.value;
    this.#set(this.input.value);
    if (before !== this.value || this.taken !== this.value) this.changed();
    this.taken = this.value;
  }

  #set(value, none = false) {
    const { min, max } = this.input;
    if (this.none) this.none.checked = none;
    this.box.classList.toggle("unset", value === null);
    this.input.value = value ?? String(Math.round((Number(min) + Number(max)) / 2));
    this.output.value = value ?? "";
    if (value === null) {
      this.taken = null;
      this.input.setAttribute("aria-valuetext", this.words.unset);
    } else {
      this.input.removeAttribute("aria-valuetext");
    }
  }

  choose(digit) {
    if (digit !== 0 || !this.none) return false;
    this.value = NONE;
    this.changed();
    return true;
  }

  focus() {
    this.input.focus();
  }
}

class Typed extends Question {
  constructor(root, changed, words) {
    super(root, changed, words);
    this.input = root.querySelector(".scale input, .scale textarea");
    this.none = root.querySelector(".none input");
    this.input.addEventListener("input", () => {
      if (this.none) this.none.checked = false;
      this.later();
    });
    this.input.addEventListener("blur", () => this.flush());
    this.none?.addEventListener("change", () => {
      if (this.none.checked) this.input.value = "";
      this.flush();
    });
  }

  get typed() {
    return true;
  }

  get value() {
    if (this.none?.checked) return NONE;
    const said = this.input.value.trim();
    if (said === "") return null;
    if (this.root.dataset.widget !== "number") return said;
    const number = said.normalize("NFKC").replace("\u2212", "-");
    return AMBIGUOUS.test(number) ? number : number.replace(",", ".");
  }

  set value(value) {
    if (this.none) this.none.checked = value === NONE;
    this.input.value = value === NONE ? "" : value ?? "";
  }

  choose(digit) {
    if (digit !== 0 || !this.none) return false;
    this.none.checked = true;
    this.input.value = "";
    this.changed();
    return true;
  }

  focus() {
    this.input.focus();
  }
}

// Let a slider of steps follow a finger or a pointer that is drawn along it.
function slide(track, inputs, done) {
  let before = null;
  const under = (event) => {
    const box = track.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    return inputs[Math.max(0, Math.min(inputs.length - 1, Math.floor(share * inputs.length)))];
  };
  track.addEventListener("pointerdown", (event) => {
    before = { value: inputs.find((input) => input.checked)?.value, x: event.clientX, drawn: false };
  });
  track.addEventListener("pointermove", (event) => {
    if (!before || event.buttons === 0) return;
    if (!before.drawn && Math.abs(event.clientX - before.x) < 8) return;
    if (!before.drawn) track.setPointerCapture(event.pointerId);
    before.drawn = true;
    under(event).checked = true;
  });
  track.addEventListener("pointerup", (event) => {
    const drawn = before?.drawn;
    const value = before?.value;
    before = null;
    if (!drawn) return;
    const chosen = under(event);
    chosen.checked = true;
    if (chosen.value !== value) done();
  });
  track.addEventListener("pointercancel", () => { before = null; });
}
