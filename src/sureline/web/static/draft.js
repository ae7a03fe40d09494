// A draft as it is typed over: says what was changed, keeps it in this tab until it is sent, and
// never lets a changed draft be approved as if it were not.
"use strict";
const form = document.getElementById("verdict");
const inputs = form ? [...form.querySelectorAll("[data-was]")] : [];
const kept = form && `sureline.draft.${form.dataset.draft}`;
const one = (selector) => form && form.querySelector(selector);
const saved = () => [...inputs, one("#comment")].filter(Boolean);
const reasons = () => (form ? [...form.querySelectorAll("[name=reason]")] : []);

// The same characters that the server spells out; see shown_text.py.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
const spelled = (text) =>
  text.replace(HIDDEN, (mark) =>
    mark === "\n" || mark === "\t"
      ? mark
      : `[U+${mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
const MOST_WORDS = 1500;

// The longest common subsequence of words: [kind, text] with kind "same", "del" or "ins".
const differences = (before, after) => {
  const [a, b] = [before, after].map((text) => text.split(/(\s+)/));
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return [["del", before], ["ins", after]];
  const best = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  const parts = [];
  const add = (kind, text) => {
    const last = parts[parts.length - 1];
    if (last && last[0] === kind) last[1] += text;
    else parts.push([kind, text]);
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add("same", a[i++]), j++;
    else if (j >= b.length || (i < a.length && best[i + 1][j] >= best[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  return parts;
};

const isChanged = (input) => input.value !== input.dataset.was;

// What stands below a field is read with it: what is wrong there, and what was changed.
const describe = (input, field) => {
  const ids = [...field.querySelectorAll(".fault, .was")].map((line) => line.id);
  if (ids.length) input.setAttribute("aria-describedby", ids.join(" "));
  else input.removeAttribute("aria-describedby");
};

const say = (input) => {
  const field = input.closest("[data-field]");
  field.classList.toggle("changed", isChanged(input));
  const stands = field.querySelector("[data-stands]");
  if (stands) stands.hidden = isChanged(input); // it was said of what is not there any more
  let line = field.querySelector(".was");
  if (!isChanged(input)) {
    if (line) line.remove();
    return describe(input, field);
  }
  if (!line) {
    line = document.createElement("p");
    line.className = "was";
    line.id = `${input.id}-was`;
    field.append(line);
    describe(input, field);
  }
  line.replaceChildren("changed: ");
  for (const [kind, text] of differences(input.dataset.was, input.value)) {
    const part = document.createElement(kind === "same" ? "span" : kind);
    part.textContent = spelled(text);
    line.append(part);
  }
};

// With changes, `a` releases the edit and approving as it was cannot be pressed.
const offer = () => {
  const changed = inputs.some(isChanged);
  const [edit, approve, back] = ["[data-edit]", "[data-approve]", "[data-back]"].map(one);
  if (!edit) return;
  for (const button of [edit, back]) {
    button.disabled = !changed;
    button.hidden = !changed;
  }
  approve.disabled = changed;
  edit.querySelector("kbd").hidden = !changed;
  approve.querySelector("kbd").hidden = changed;
  const [acts, rests] = changed ? [edit, approve] : [approve, edit];
  acts.dataset.key = "a";
  delete rests.dataset.key;
};

const keep = () => {
  const values = saved().filter((input) => input.value !== (input.dataset.was ?? ""));
  const pairs = values.map((input) => [input.id, input.value]);
  const reason = reasons().find((chip) => chip.checked);
  if (reason) pairs.push(["reason", reason.value]);
  if (!pairs.length) return sessionStorage.removeItem(kept);
  try {
    sessionStorage.setItem(kept, JSON.stringify(pairs));
  } catch {
    document.getElementById("live").textContent = "This draft is too large to be kept in the tab.";
  }
};

const restore = () => {
  const values = new Map(JSON.parse(sessionStorage.getItem(kept) ?? "[]"));
  for (const input of saved()) {
    if (!values.has(input.id) || input.value !== (input.dataset.was ?? "")) continue;
    input.value = values.get(input.id);
    const around = input.closest("details");
    if (around) around.open = true;
  }
  if (reasons().some((chip) => chip.checked)) return;
  for (const chip of reasons()) chip.checked = values.get("reason") === chip.value;
};

if (form) {
  restore();
  inputs.forEach(say);
  offer();
  form.addEventListener("input", (event) => {
    if (event.target.dataset.was !== undefined) say(event.target);
    offer();
    keep();
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault(); // the form's own beginning may be what was typed before an error
    for (const input of inputs) {
      input.value = input.dataset.was;
      say(input);
    }
    offer();
    keep();
  });
  // It is kept until a page says that the verdict was recorded (next.js): the session may be over.
  const edit = one("[data-focus]");
  if (edit && inputs.length) {
    edit.hidden = false;
    edit.addEventListener("click", () => {
      const around = inputs[0].closest("details");
      if (around) around.open = true;
      inputs[0].focus();
    });
  }
}
