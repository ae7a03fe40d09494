// One key presses one button: elements say which with data-key. Typing in a field is typing.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const at = event.target;
  if (at.matches("textarea, select, input:not([type=radio]):not([type=checkbox])")) {
    if (event.key === "Escape") at.blur();
    return;
  }
  const rows = [...document.querySelectorAll("[data-row] a")];
  if (rows.length && (event.key === "j" || event.key === "k")) {
    const here = rows.indexOf(document.activeElement);
    const next = event.key === "j" ? here + 1 : here - 1;
    rows[Math.max(0, Math.min(rows.length - 1, next))].focus();
    event.preventDefault();
    return;
  }
  const found = [...document.querySelectorAll("[data-key]")].find(
    (one) => one.dataset.key === event.key,
  );
  if (!found) return;
  event.preventDefault();
  found.click();
  if (found.tagName === "SUMMARY") {
    const area = found.parentElement.querySelector("textarea");
    if (area) area.focus();
  }
});
