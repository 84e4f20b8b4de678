// The authors' pages: what is typed stays in this browser until it is saved, and stands in the form again.
"use strict";
(() => {
  const words = document.getElementById("drafts");
  if (!words) return;
  const stem = `voirdire-draft ${words.dataset.place} ${words.dataset.person} `;
  const ENDED = { write: "text", submit: "text", revise: "text", review: "decision", accept: "decision", reject: "decision" };
  const plain = (value) => value.replace(/\r\n/g, "\n").trim();
  const keep = (key, draft) => localStorage.setItem(key, JSON.stringify(draft));
  const kept = (key) => JSON.parse(localStorage.getItem(key) || "null");
  const fields = (form) => [...form.querySelectorAll("textarea, input[type=text]")];
  const typed = (form) => Object.fromEntries(fields(form).map((field) => [field.name, field.value]));
  const changed = (form, draft) =>
    fields(form).filter((field) => field.name in draft.values && plain(field.value) !== plain(draft.values[field.name]));

  const tell = (form, kind, texts, pressed) => {
    const notice = words.content.querySelector(`[data-draft="${kind}"]`).cloneNode(true);
    for (const one of texts) {
      const line = document.createElement("p");
      line.className = "said";
      line.dir = "auto";
      line.textContent = one;
      notice.querySelector("button").before(line);
    }
    notice.querySelector("button").addEventListener("click", () => { pressed(); notice.remove(); });
    form.before(notice);
  };

  // A draft of the text that the form shows goes into it; one of an older text is shown beside it.
  const offer = (form, key, draft, here) => {
    if (draft.seen !== here) {
      keep(`${key} older`, draft);
      localStorage.removeItem(key);
      return;
    }
    const before = typed(form);
    for (const field of changed(form, draft)) field.value = draft.values[field.name];
    tell(form, "back", [], () => {
      for (const field of fields(form)) field.value = before[field.name];
      localStorage.removeItem(key);
    });
  };

  const watch = (form, key) => {
    const here = form.elements.seen.value;
    const refused = location.pathname === form.getAttribute("action");
    const draft = kept(key);
    if (draft && changed(form, draft).length) offer(form, key, draft, here);
    else if (draft && !refused) localStorage.removeItem(key);
    const older = kept(`${key} older`);
    if (older) tell(form, "older", Object.values(older.values).filter(plain), () => localStorage.removeItem(`${key} older`));
    form.addEventListener("input", () => keep(key, { seen: here, values: typed(form) }));
  };

  // What was saved is no draft any more, but for the words beside a text that was saved and not handed in.
  const saved = (done) => {
    const key = `${stem}${location.pathname}/${ENDED[done]}`;
    const draft = kept(key);
    if (draft && done === "write" && plain(draft.values.note || ""))
      keep(key, { seen: document.querySelector("[name=seen]").value, values: { note: draft.values.note } });
    else localStorage.removeItem(key);
    history.replaceState(null, "", location.pathname);
  };

  const done = new URLSearchParams(location.search).get("done");
  if (done in ENDED) saved(done);
  for (const form of document.querySelectorAll("main form")) {
    const path = form.getAttribute("action");
    if (/\/(text|decision)$/.test(path)) watch(form, stem + path);
  }
})();
