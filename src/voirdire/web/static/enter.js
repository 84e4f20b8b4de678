// Takes the secret out of the address and sends it as the form does; also when a link is opened on this very page.
"use strict";
function enter() {
  const secret = decodeURIComponent(location.hash.slice(1));
  if (!secret) return;
  history.replaceState(null, "", location.pathname + location.search);
  document.getElementById("secret").value = secret;
  document.getElementById("enter").submit();
}
addEventListener("hashchange", enter);
enter();
