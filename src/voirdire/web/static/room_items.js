"use strict";
/* Keys and small comforts of the pages of items; everything works without them. */
(() => {
  const dialog = document.getElementById("keys");
  const links = [...document.querySelectorAll("[data-cards] .item-link")];
  const typing = (element) => element.closest("input,textarea,select,[contenteditable]") !== null;
  const help = () => { if (dialog && !dialog.open) dialog.showModal(); };
  const follow = (rel) => {
    const link = document.querySelector(`a[rel="${rel}"]`);
    if (link) link.click();
    return link !== null;
  };
  const focus = (place) => {
    const link = links[place];
    if (!link) return false;
    link.focus();
    link.scrollIntoView({ block: "nearest" });
    return true;
  };
  const step = (by) => {
    const now = links.indexOf(document.activeElement);
    return focus(now < 0 ? 0 : Math.min(Math.max(now + by, 0), links.length - 1));
  };
  /* The card above or below: of the nearest other row the one that is nearest to the left edge of this one. */
  const row = (down) => {
    const now = document.activeElement.closest(".item-link");
    if (!links.includes(now)) return false;
    const place = (link) => link.closest(".item-card").getBoundingClientRect();
    const here = place(now);
    const others = links.map((link) => [link, place(link)]).filter(([, box]) => (down ? box.top > here.top + 4 : box.top < here.top - 4));
    if (!others.length) return true;
    others.sort(([, a], [, b]) => Math.abs(a.top - here.top) - Math.abs(b.top - here.top) || Math.abs(a.left - here.left) - Math.abs(b.left - here.left));
    return focus(links.indexOf(others[0][0]));
  };
  const onCard = () => links.includes(document.activeElement);
  const actions = {
    "j": () => step(1), "k": () => step(-1),
    "ArrowRight": () => onCard() && step(1), "ArrowLeft": () => onCard() && step(-1),
    "ArrowDown": () => row(true), "ArrowUp": () => row(false),
    "n": () => follow("next"), "]": () => follow("next"), "p": () => follow("prev"), "[": () => follow("prev"),
    "u": () => { const back = document.querySelector(".crumbs a:last-of-type"); if (back) back.click(); return back !== null; },
    "/": () => { const field = document.querySelector('input[type="search"]'); if (field) { field.focus(); field.select(); } return field !== null; },
    "?": () => { help(); return true; },
  };
  /* Who comes back from an item stands on its card again. */
  const left = location.hash.startsWith("#item-") ? document.getElementById(location.hash.slice(1)) : null;
  if (links.includes(left)) { left.focus({ preventScroll: true }); left.closest(".item-card").scrollIntoView({ block: "center" }); }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    if (dialog && dialog.open) return;
    if (typing(event.target)) return;
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
    if (action && action()) event.preventDefault();
  });
  for (const button of document.querySelectorAll("[data-keys]")) {
    button.hidden = false;
    button.addEventListener("click", help);
  }
  for (const button of document.querySelectorAll("[data-unfold]")) {
    const parts = [...document.querySelectorAll(`#${button.dataset.unfold} > details`)];
    const words = [button.textContent, button.dataset.fold];
    const all = () => parts.every((part) => part.open);
    const told = () => { button.textContent = words[all() ? 1 : 0]; };
    button.hidden = parts.length < 2;
    button.addEventListener("click", () => { const open = !all(); for (const part of parts) part.open = open; told(); });
    for (const part of parts) part.addEventListener("toggle", told);
    told();
  }
  /* An address says only what is not as usual. */
  const usual = (field) => field.value === "" || field.selectedOptions?.[0]?.hasAttribute("data-usual") === true;
  const form = document.querySelector(".item-filters");
  if (form) form.addEventListener("submit", () => {
    const idle = [...form.elements].filter((field) => field.name && usual(field));
    for (const field of idle) field.disabled = true;
    setTimeout(() => { for (const field of idle) field.disabled = false; }, 0);
  });
})();
