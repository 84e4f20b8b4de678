// The windows over the page: help with its settings, the image at a larger size.

const byId = (id) => document.getElementById(id);
const LARGEST = 3;

// A button that is pressed with a pointer leaves the focus where it was, so that the keys still answer questions after
// the window has been closed.
function keepsFocus(button) {
  button.addEventListener("mousedown", (event) => event.preventDefault());
}

export function zoomDialog() {
  const dialog = byId("zoom");
  const area = byId("zoom-area");
  const scale = (step) => {
    const now = Math.max(1, Math.min(LARGEST, Number(area.dataset.zoom) + step));
    area.dataset.zoom = String(now);
    byId("zoom-in").setAttribute("aria-disabled", String(now === LARGEST));
    byId("zoom-out").setAttribute("aria-disabled", String(now === 1));
    area.scrollTo((area.scrollWidth - area.clientWidth) / 2, (area.scrollHeight - area.clientHeight) / 2);
  };
  byId("zoom-in").addEventListener("click", () => scale(1));
  byId("zoom-out").addEventListener("click", () => scale(-1));
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "+" || event.key === "=") scale(1);
    if (event.key === "-") scale(-1);
  });
  const open = () => {
    const shown = byId("zoom-open").querySelector("img");
    if (!shown || byId("frame").hidden || byId("desk").hidden) return false;
    byId("zoom-image").src = shown.src;
    byId("zoom-image").alt = shown.alt;
    dialog.showModal();
    area.dataset.zoom = "1";
    scale(0);
    area.focus();
    return true;
  };
  byId("zoom-open").addEventListener("click", open);
  keepsFocus(byId("zoom-open"));
  return open;
}

export function helpDialog() {
  const open = () => {
    byId("help").showModal();
    return true;
  };
  byId("help-open").addEventListener("click", open);
  keepsFocus(byId("help-open"));
  return open;
}

export function singleKeys(keys) {
  byId("single-keys").checked = keys.single;
  byId("single-keys").addEventListener("change", (event) => keys.use(event.target.checked));
}

export function otherDevice(api, words) {
  byId("device-make").addEventListener("click", async () => {
    const { status, body } = await api.post("/api/resume-link", {});
    if (status === 200) {
      byId("device-link").value = body.url;
      byId("device").hidden = false;
      byId("device-told").textContent = "";
      byId("device-link").focus();
      byId("device-link").select();
    } else {
      byId("device-told").textContent = body?.error?.message ?? words.not_now;
    }
  });
  byId("device-copy").addEventListener("click", async () => {
    byId("device-link").select();
    try {
      await navigator.clipboard.writeText(byId("device-link").value);
      byId("device-told").textContent = words.copied;
    } catch {
      byId("device-link").focus();
    }
  });
}
