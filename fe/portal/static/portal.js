// What pages do better with script than without. Without it all of them work.
"use strict";

const words = document.body.dataset;

// Somebody listens to what happened by a click.
function announce(text) {
  let said = document.querySelector("#said");
  if (!said) {
    said = Object.assign(document.createElement("p"), { id: "said", className: "hidden" });
    said.setAttribute("role", "status");
    document.body.append(said);
  }
  said.textContent = text;
}

// data-copy: the text itself, "#id" of what holds it, or nothing: the code beside the button.
async function copy(button) {
  const wanted = button.dataset.copy;
  const holder = wanted ? document.getElementById(wanted.replace(/^#/, "")) : button.parentElement.querySelector("code, pre, input");
  const text = holder ? (holder.value ?? holder.textContent).trim() : wanted;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return;
  }
  const before = button.textContent;
  if (before === words.copied) return;
  button.textContent = words.copied;
  announce(words.copied);
  setTimeout(() => { button.textContent = before; }, 2000);
}

// data-confirm on a form or its button: asks back in a dialog, and sends the form as it was meant to be sent.
function ask(form, button, question) {
  const dialog = document.createElement("dialog");
  const text = Object.assign(document.createElement("p"), { textContent: question, id: "question" });
  const row = Object.assign(document.createElement("div"), { className: "actions" });
  const no = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: words.no });
  const yes = Object.assign(document.createElement("button"), { type: "button", textContent: button?.textContent.trim() || words.yes });
  yes.className = button?.classList.contains("danger") ? "danger" : "";
  dialog.setAttribute("aria-labelledby", "question");
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", () => {
    dialog.close();
    form.dataset.sure = "1";
    form.requestSubmit(button);
  });
  dialog.addEventListener("close", () => { dialog.remove(); button?.focus(); });
  row.append(no, yes);
  dialog.append(text, row);
  document.body.append(dialog);
  dialog.showModal();
}

// A form that was sent is not sent again by a second click. Files that come as answers leave the page where it is.
function hold(form) {
  const buttons = [...form.querySelectorAll("button:not([type=button]), input[type=submit]")].filter((one) => !one.disabled);
  const set = (held) => buttons.forEach((one) => { one.disabled = held; });
  form.setAttribute("aria-busy", "true");
  setTimeout(set, 0, true);
  const free = () => { set(false); form.removeAttribute("aria-busy"); };
  setTimeout(free, 8000);
  addEventListener("pageshow", (event) => { if (event.persisted) free(); }, { once: true });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
});

document.addEventListener("submit", (event) => {
  const form = event.target, button = event.submitter;
  const question = button?.dataset.confirm || form.dataset.confirm;
  if (question && !form.dataset.sure) {
    event.preventDefault();
    ask(form, button, question);
  } else if (form.getAttribute("method")?.toLowerCase() === "post" && !button?.formTarget) {
    delete form.dataset.sure;
    hold(form);
  }
});

// data-preview: the button's answer is shown in that frame, and again after each change, where there is room for it.
for (const button of document.querySelectorAll("button[data-preview]")) {
  const form = button.form, frame = document.getElementById(button.dataset.preview);
  if (!navigator.pdfViewerEnabled || !matchMedia("(min-width: 70rem)").matches) continue;
  // One at a time: a request that is given up ends the process that prints.
  let is_busy = false, is_stale = false;
  const show = () => {
    is_stale = is_busy;
    if (is_busy || !form.checkValidity()) return;
    frame.setAttribute("aria-busy", is_busy = true);
    form.requestSubmit(button);
  };
  frame.addEventListener("load", () => {
    frame.setAttribute("aria-busy", is_busy = false);
    if (is_stale) show();
  });
  button.formTarget = frame.name;
  button.hidden = true;
  frame.hidden = false;
  form.addEventListener("change", show);
  show();
}

// On a phone rows become cards, which need the names of their columns; what scrolls can be reached by keyboard.
function dress() {
  for (const table of document.querySelectorAll(".scroll > table:not(.wide)")) {
    const names = [...table.querySelectorAll("thead tr:only-child > th")];
    if (names.length < 3 || names.some((one) => one.colSpan > 1)) continue;
    table.classList.add("labelled");
    table.setAttribute("role", "table");
    for (const part of table.querySelectorAll("thead, tbody, tfoot")) part.setAttribute("role", "rowgroup");
    for (const one of names) one.setAttribute("role", "columnheader");
    for (const row of table.rows) {
      row.setAttribute("role", "row");
      if (row.parentElement.tagName === "THEAD") continue;
      [...row.cells].forEach((cell, index) => {
        cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
        if (cell.colSpan === 1) cell.dataset.label = names[index]?.textContent.trim() ?? "";
      });
    }
  }
  for (const box of document.querySelectorAll(".scroll, pre")) {
    if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
  }
  for (const link of document.querySelectorAll(".side a, .crumb a")) {
    link.search = sessionStorage.getItem(`filters ${link.pathname}`) || link.search;
  }
}

// data-filters: links that lead back to the list keep its filters, in this tab, until someone signs in again.
const filters = document.querySelector("[data-filters]")?.dataset.filters;
if (filters !== undefined) sessionStorage.setItem(`filters ${location.pathname}`, filters);
if (document.body.classList.contains("door")) sessionStorage.clear();
dress();

// data-refresh: while it is there, the content of the page is fetched again, at first after half a second. It takes the
// place of what is shown once it says something else, unless a person reads or works in a part of it.
function renew(after) {
  setTimeout(async () => {
    const main = document.getElementById("main"), there = document.activeElement;
    const is_idle = !main.contains(there) || there === main || there.id === "next";
    if (!document.hidden && is_idle && !main.querySelector("details[open]")) {
      const answer = await fetch(location.href).catch(() => null);
      const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = page && page.getElementById("main");
      if (now && now.textContent.trim() !== main.textContent.trim()) {
        main.replaceChildren(...now.childNodes);
        document.title = page.title;
        dress();
        if (there.id === "next") document.getElementById("next")?.focus();
        announce(main.querySelector("h1").textContent);
      }
    }
    if (main.querySelector("[data-refresh]")) renew(Math.min(after * 1.2, 5000));
  }, after);
}
if (document.querySelector("[data-refresh]")) renew(500);

// data-check-all: one box that checks all boxes of that name in its form. data-with-script: is of no use without.
for (const one of document.querySelectorAll("[data-with-script]")) one.hidden = false;
document.querySelector("[data-print]")?.addEventListener("click", () => print());
document.querySelectorAll("[data-check-all]").forEach((all) => {
  all.hidden = false;
  all.addEventListener("change", () => {
    all.form.querySelectorAll(`input[name="${all.dataset.checkAll}"]`).forEach((one) => { one.checked = all.checked; });
  });
});

// data-switch: the list of companies opens in a dialog, narrowed as one types; Enter goes to the first.
async function choose(link) {
  const answer = await fetch(link.href).catch(() => null);
  const list = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("companies");
  if (!list) { location.assign(link.href); return; }
  const dialog = document.createElement("dialog");
  const typed = Object.assign(document.createElement("input"), { type: "search", placeholder: words.search });
  dialog.className = "switch";
  dialog.setAttribute("aria-label", link.title);
  typed.setAttribute("aria-label", words.search);
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const rows = [...list.children].map((row) => [row, plain(row.textContent)]);
  typed.addEventListener("input", () => {
    const wanted = plain(typed.value).split(/\s+/);
    for (const [row, text] of rows) row.hidden = !wanted.every((word) => text.includes(word));
  });
  typed.addEventListener("keydown", (event) => {
    if (event.key === "Enter") list.querySelector("li:not([hidden]) a")?.click();
  });
  dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
  dialog.append(typed, list);
  document.body.append(dialog);
  dialog.showModal();
  typed.focus();
}
document.querySelector("[data-switch]")?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(event.currentTarget);
});

// A list of municipalities offers those of the chosen province; one that is chosen first says its province.
for (const province of document.querySelectorAll("select[name=Provincia], select[name=province]")) {
  const places = province.form.querySelector("select[name=Municipio], select[name=municipality]");
  if (!places) continue;
  const filter = () => {
    const wanted = province.value ? province.selectedOptions[0].textContent.trim() : "";
    for (const group of places.querySelectorAll("optgroup")) group.hidden = group.disabled = wanted !== "" && group.label !== wanted;
    if (places.selectedOptions[0]?.parentElement.disabled) places.value = "";
  };
  province.addEventListener("change", filter);
  places.addEventListener("change", () => {
    const { label } = places.selectedOptions[0].parentElement;
    const named = [...province.options].find((one) => one.textContent.trim() === label);
    if (!province.value && named) province.value = named.value;
    filter();
  });
  filter();
}
