// One key presses one button: elements say which with data-key. Typing in a field is typing.
// Keys can be turned off (WCAG 2.1.4); that is kept in this browser.
"use strict";
const SETTING = "sureline.keys";
const off = () => localStorage.getItem(SETTING) === "off";
const show = () => document.documentElement.classList.toggle("no-keys", off());

const rows = (step) => {
  const all = [...document.querySelectorAll("[data-row]")];
  const links = all.map((row) => row.querySelector("a"));
  if (!links.length) return false;
  const here = all.findIndex((row) => row.contains(document.activeElement));
  const next = here < 0 ? 0 : Math.max(0, Math.min(links.length - 1, here + step));
  links[next].focus();
  return true;
};

const press = (key) => {
  const found = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key);
  if (!found || found.disabled) return false;
  if (found.matches("[type=search]")) found.focus();
  else found.click();
  if (found.tagName === "SUMMARY") {
    const first = found.parentElement.querySelector("input:not([type=hidden]), textarea, select");
    if (first && found.parentElement.open) first.focus();
    else found.focus();
  }
  return true;
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const at = event.target;
  if (at.matches("textarea, select, input:not([type=radio]):not([type=checkbox])")) {
    if (event.key === "Escape") at.blur();
    return;
  }
  if (off() || document.querySelector("dialog[open]")) return;
  const step = { j: 1, k: -1 }[event.key];
  if ((step && rows(step)) || press(event.key)) event.preventDefault();
});

// A double press of a key, or a double click, sends a form once.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
});
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

for (const one of document.querySelectorAll("[data-open]")) {
  one.hidden = false;
  one.addEventListener("click", () => document.getElementById(one.dataset.open).showModal());
}
const setting = document.getElementById("keys-on");
if (setting) {
  setting.checked = !off();
  setting.addEventListener("change", () => {
    localStorage.setItem(SETTING, setting.checked ? "on" : "off");
    show();
  });
}
show();
