// Asks for the next item in the answer to a verdict, which saves a way there and back; such a page
// gets the item's own address, so that a reload looks at it and sends nothing again.
"use strict";
{
  const at = document.getElementById("main").dataset.at;
  if (at) history.replaceState(null, "", at);
  for (const form of document.forms)
    form.addEventListener("submit", () => {
      if (form.elements.direct) form.elements.direct.value = "1";
    });
  const before = document.querySelector("[data-before]");
  if (before) {
    before.hidden = false;
    before.addEventListener("click", () => history.back());
  }
}
