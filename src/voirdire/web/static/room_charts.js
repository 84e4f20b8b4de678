// Charts say their numbers: a box at the pointer or at the mark that the arrow keys reached, with the mark's own words.
"use strict";
(() => {
  const MARK = '[role="graphics-symbol"][aria-label]';

  function box(holder) {
    const made = document.createElement("div");
    made.className = "chart-box";
    made.setAttribute("role", "status");
    made.hidden = true;
    holder.append(made);
    return made;
  }

  function place(said, mark, holder) {
    const at = mark.getBoundingClientRect();
    const around = holder.getBoundingClientRect();
    const middle = at.left + at.width / 2 - around.left;
    const left = Math.max(0, Math.min(middle - said.offsetWidth / 2, around.width - said.offsetWidth));
    const above = at.top - around.top - said.offsetHeight - 8;
    said.style.left = `${left}px`;
    said.style.top = `${above >= 0 ? above : at.bottom - around.top + 8}px`;
  }

  function intoView(mark, chart) {
    const at = mark.getBoundingClientRect();
    const around = chart.getBoundingClientRect();
    if (at.left < around.left + 24 || at.right > around.right - 24) {
      chart.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2;
    }
  }

  function start(chart) {
    const marks = [...chart.querySelectorAll(MARK)];
    if (!marks.length) return;
    const holder = document.createElement("div");
    holder.className = "holder";
    chart.replaceWith(holder);
    holder.append(chart);
    const said = box(holder);
    let current = -1;
    let keyed = false; // The keys chose the mark: a pointer that rests while things move below it changes nothing.

    function show(number) {
      marks[current]?.classList.remove("at");
      current = number;
      const mark = marks[number];
      said.hidden = !mark;
      if (!mark) return;
      mark.classList.add("at");
      said.textContent = mark.getAttribute("aria-label");
      place(said, mark, holder);
    }

    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    chart.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const last = marks.length - 1;
      let next = null;
      if (event.key in steps) {
        next = current < 0 ? (steps[event.key] > 0 ? 0 : last) : Math.max(0, Math.min(last, current + steps[event.key]));
      } else if (event.key === "Home") next = 0;
      else if (event.key === "End") next = last;
      else if (event.key === "Escape") next = -1;
      if (next === null) return;
      event.preventDefault();
      keyed = true;
      if (marks[next]) intoView(marks[next], chart);
      show(next);
    });

    function follow(event) {
      const mouse = event.pointerType === "mouse";
      if (keyed && mouse) return;
      keyed = false;
      const mark = event.target.closest(MARK);
      if (mark) show(marks.indexOf(mark));
      else if (mouse) show(-1);
    }

    chart.addEventListener("pointerover", follow);
    chart.addEventListener("pointermove", (event) => {
      if (!keyed || !(event.movementX || event.movementY)) return;
      keyed = false;
      follow(event);
    });
    chart.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse" && !keyed) show(-1);
    });
    chart.addEventListener("blur", () => show(-1));
    chart.addEventListener("scroll", () => marks[current] && place(said, marks[current], holder), { passive: true });
    if (chart.dataset.hint) {
      const hint = document.createElement("p");
      hint.className = "chart-hint with-keys";
      hint.textContent = chart.dataset.hint;
      hint.hidden = true;
      holder.append(hint);
      chart.addEventListener("focus", () => { hint.hidden = !chart.matches(":focus-visible"); });
      chart.addEventListener("blur", () => { hint.hidden = true; });
    }
  }

  document.querySelectorAll("[data-chart]").forEach(start);

  // What a link leads to is opened where it is closed.
  function open() {
    const named = location.hash.slice(1);
    const there = named && document.getElementById(decodeURIComponent(named));
    const closed = there && there.closest("details:not([open])");
    if (!closed) return;
    closed.open = true;
    there.scrollIntoView();
  }
  window.addEventListener("hashchange", open);
  open();

  // A choice of a list is followed at once; without this script the button sends it.
  document.querySelectorAll("form[data-choices]").forEach((form) => {
    form.addEventListener("change", () => form.requestSubmit());
  });
})();
