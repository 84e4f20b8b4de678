// A run's page: what has changed is put in its place, every few seconds, without moving anything else.
"use strict";
(() => {
  const box = document.getElementById("run");
  if (!box) return;
  const HIDDEN = 30;
  const looked = document.getElementById("looked");
  const said = document.getElementById("said");
  const trouble = document.getElementById("trouble");
  let when = looked.dataset.when;
  let again = box.dataset.again === "" ? null : Number(box.dataset.again);
  let timer = 0;
  let asking = false;

  const put = (node, words) => {
    if (node.textContent !== words) node.textContent = words;
  };

  const same = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName;

  // Makes a node like another: what is alike stays, so that focus, scrolling and selections stay too.
  const liken = (node, wanted) => {
    if (node.nodeType !== Node.ELEMENT_NODE) {
      if (node.data !== wanted.data) node.data = wanted.data;
      return;
    }
    for (const { name } of [...node.attributes]) if (!wanted.hasAttribute(name)) node.removeAttribute(name);
    for (const { name, value } of wanted.attributes)
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    const parts = [...wanted.childNodes];
    const here = [...node.childNodes];
    parts.forEach((part, place) => {
      const old = here[place];
      if (!old) node.append(part);
      else if (same(old, part)) liken(old, part);
      else old.replaceWith(part);
    });
    for (const old of here.slice(parts.length)) old.remove();
  };

  const show = (told) => {
    for (const [name, html] of Object.entries(told.parts)) {
      const node = document.getElementById(`part-${name}`);
      const wanted = node.cloneNode(false);
      const made = document.createElement("template");
      made.innerHTML = html;
      wanted.append(made.content);
      liken(node, wanted);
    }
    when = told.looked;
    again = told.again;
    put(said, told.said);
    put(looked, (again === null ? box.dataset.looked : box.dataset.live).replace("{when}", when));
    trouble.hidden = true;
  };

  const wrong = (words) => {
    put(trouble.firstElementChild, words);
    trouble.hidden = false;
    again = Number(box.dataset.later);
    put(looked, box.dataset.looked.replace("{when}", when));
  };

  const ask = async () => {
    let response;
    try {
      response = await fetch(box.dataset.now, { headers: { accept: "application/json" }, cache: "no-store" });
    } catch {
      wrong(box.dataset.offline.replace("{when}", when));
      return;
    }
    const told = await response.json().catch(() => null);
    if (response.ok && told) show(told);
    else wrong(told && told.error ? told.error.message : box.dataset.gone);
  };

  const turn = async () => {
    if (asking) return;
    asking = true;
    await ask();
    asking = false;
    plan();
  };

  const plan = () => {
    clearTimeout(timer);
    if (again !== null) timer = setTimeout(turn, 1000 * (document.hidden ? Math.max(again, HIDDEN) : again));
  };

  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && again !== null) turn();
    else plan();
  });
  plan();
})();
