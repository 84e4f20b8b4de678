// Keys: digits answer, Enter goes on, Backspace and u go back. Single keys can be switched off. In a text box Ctrl+Enter
// goes on and Escape leaves the box.

const SETTING = "voirdire.keys";
const byId = (id) => document.getElementById(id);

export class Keys {
  constructor(page, questions, open) {
    Object.assign(this, { page, questions, open });
    this.single = recall();
    document.addEventListener("keydown", (event) => this.#pressed(event));
  }

  use(single) {
    this.single = single;
    remember(single);
  }

  #pressed(event) {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    if (this.#meant(event)) event.preventDefault();
  }

  // True where the key was meant for the page.
  #meant(event) {
    const typing = event.target.matches("input[type=text], input[type=number], textarea");
    if (event.ctrlKey || event.metaKey) return event.key === "Enter" && this.#nextItem(event);
    if (event.key === "Enter") return this.#enter(event, typing);
    if (typing) return event.key === "Escape" && this.#leave();
    return this.single && this.#key(event);
  }

  #nextItem(event) {
    if (!event.repeat) this.page.next();
    return true;
  }

  #leave() {
    byId("next").focus();
    return true;
  }

  #enter(event, typing) {
    if (event.repeat || event.target.closest("button, a, summary")) return false;
    if (typing) {
      if (event.target.matches("textarea")) return false;
      this.#onwards(this.#here(event.target));
      return true;
    }
    this.page.next();
    return true;
  }

  #key(event) {
    const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1] ?? /^[0-9]$/.exec(event.key)?.[0];
    if (digit !== undefined && !event.shiftKey) return this.#digit(Number(digit), event);
    if (event.key === "?" || event.key === "h") return this.open.help();
    if (event.key === "z") return this.open.zoom();
    if (event.key === "Backspace" || event.key === "u") {
      this.page.undo();
      return true;
    }
    return false;
  }

  #digit(digit, event) {
    if (event.repeat || this.page.atEnd || this.page.held || !this.page.item) return false;
    const question = this.#here(event.target) ?? this.page.lacking()[0];
    if (!question?.choose(digit)) return false;
    this.#onwards(question);
    return true;
  }

  #here(target) {
    return this.questions.find((question) => question.root.contains(target));
  }

  // To the next question, past boxes for text that may stay empty: there keys would type.
  #onwards(question) {
    const next = this.questions.slice(this.questions.indexOf(question) + 1).find((one) => one.required || !one.typed);
    if (next) next.focus();
    else byId("next").focus();
  }
}

function recall() {
  try {
    return localStorage.getItem(SETTING) !== "off";
  } catch {
    return true;
  }
}

function remember(single) {
  try {
    localStorage.setItem(SETTING, single ? "on" : "off");
  } catch (error) {
    console.info(error);
  }
}
