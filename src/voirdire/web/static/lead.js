// The lead's pages: numbers that refresh without moving anything, a button that copies a link.
"use strict";
(() => {
  const EVERY = 5000;
  const held = document.getElementById("page-data");
  const data = held ? JSON.parse(held.textContent) : {};

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      const field = document.getElementById(button.dataset.copy);
      await navigator.clipboard.writeText(field.value);
      button.textContent = button.dataset.copied;
    });
  }

  const set = (node, value) => {
    if (node.tagName === "PROGRESS") { node.value = value; return; }
    const text = String(value);
    if (node.textContent !== text) node.textContent = text;
  };

  const fill = (row, told) => {
    for (const node of row.querySelectorAll("[data-show]")) set(node, told[node.dataset.show]);
  };

  const flagged = (cell, flags) => {
    const before = [...cell.querySelectorAll("li")].map((one) => one.textContent);
    const now = flags.map((flag) => flag.text);
    if (before.join("\n") === now.join("\n") && (now.length > 0 || cell.querySelector("span"))) return;
    const list = document.createElement(now.length ? "ul" : "span");
    if (!now.length) { list.className = "sub"; list.textContent = data.nothing; }
    for (const text of now) {
      const line = document.createElement("li");
      line.textContent = text;
      list.append(line);
    }
    cell.replaceChildren(list);
  };

  const rowOf = (body, told) => {
    for (const row of body.rows) if (row.dataset.rater === told.id) return row;
    const row = document.getElementById("rater-row").content.firstElementChild.cloneNode(true);
    row.dataset.rater = told.id;
    const link = row.querySelector("[data-delete]");
    link.href = `${data.delete}${encodeURIComponent(told.id)}/delete`;
    link.setAttribute("aria-label", data.delete_of.replace("{id}", told.id));
    body.append(row);
    return row;
  };

  const showProgress = (told) => {
    for (const pool of told.pools)
      for (const row of document.getElementById("pools").rows) if (row.dataset.pool === pool.pool) fill(row, pool);
    const body = document.getElementById("raters");
    const here = new Set(told.raters.map((rater) => rater.id));
    for (const row of [...body.rows])
      if (!here.has(row.dataset.rater) && !row.contains(document.activeElement)) row.remove();
    for (const rater of told.raters) {
      const row = rowOf(body, rater);
      fill(row, rater);
      flagged(row.querySelector(".flags"), rater.flags);
    }
    document.getElementById("no-raters").hidden = told.raters.length > 0;
    document.getElementById("raters-table").hidden = told.raters.length === 0;
  };

  const showStatistics = (told) => {
    if (data.state === "none" && told.state !== "none") { location.reload(); return; }
    if (told.event > data.event) document.getElementById("news-text").hidden = data.state === "none";
  };

  const ask = async (url, show) => {
    const response = await fetch(url, { headers: { accept: "application/json" } });
    if (response.status === 401) { location.reload(); return; }
    if (response.ok) show(await response.json());
  };

  const url = data.url || data.statistics;
  if (url) {
    const show = data.url ? showProgress : showStatistics;
    const box = document.getElementById("refresh");
    if (box) box.closest(".toggle").hidden = false;
    const turn = () => {
      const wanted = !document.hidden && (!box || box.checked);
      const asked = wanted ? ask(url, show).catch(() => undefined) : Promise.resolve();
      asked.then(() => setTimeout(turn, data.state === "none" ? 1000 : EVERY));
    };
    setTimeout(turn, data.state === "none" ? 1000 : EVERY);
  }
})();
