// Takes the secret out of the address and sends it as the form does.
"use strict";
const secret = decodeURIComponent(location.hash.slice(1));
if (secret) {
  history.replaceState(null, "", location.pathname + location.search);
  document.getElementById("secret").value = secret;
  document.getElementById("enter").submit();
}
