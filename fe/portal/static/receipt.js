"use strict";
// Rows of a receipt's form are added and taken away here, and what is typed is kept as a draft; without this file the
// server does the one, and the other with each button.
(() => {
  const form = document.querySelector("form.receipt");
  if (!form) return;

  const tail = /-\d+$/;
  const rowsOf = (key) => form.querySelector(`[data-rows="${key}"]`);

  const number = (rows) => {
    [...rows.children].forEach((row, place) => {
      const now = place + 1;
      row.id = row.id.replace(tail, `-${now}`);
      row.querySelectorAll("[data-number]").forEach((one) => { one.textContent = now; });
      row.querySelectorAll("input, select, textarea").forEach((one) => { one.id = one.id.replace(tail, `-${now}`); });
      row.querySelectorAll("label").forEach((one) => { one.htmlFor = one.htmlFor.replace(tail, `-${now}`); });
      row.querySelectorAll("[data-remove]").forEach((one) => {
        one.value = one.value.replace(/:\d+$/, `:${now}`);
        one.setAttribute("aria-describedby", one.getAttribute("aria-describedby").replace(tail, `-${now}`));
      });
      row.querySelector("legend").id = `l-${row.id}`;
    });
  };

  const add = (key) => {
    const rows = rowsOf(key);
    if (rows.children.length >= Number(rows.dataset.most)) return;
    const row = form.querySelector(`template[data-blank="${key}"]`).content.firstElementChild.cloneNode(true);
    rows.append(row);
    number(rows);
    row.querySelector("input, select").focus();
  };

  const remove = (key, row) => {
    const rows = rowsOf(key);
    const after = row.nextElementSibling || row.previousElementSibling;
    row.remove();
    if (rows.children.length < Number(rows.dataset.least)) { add(key); return; }
    number(rows);
    const next = after ? after.querySelector("input, select") : form.querySelector(`[data-add="${key}"]`);
    next.focus();
  };

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-add], button[data-remove]");
    if (!button) return;
    event.preventDefault();
    if (button.dataset.add) add(button.dataset.add);
    else remove(button.dataset.remove, button.closest("fieldset.line"));
  });

  // What is typed is kept a moment later, and when the tab is left: the browser may drop it.
  let waiting = 0;
  const keep = () => {
    clearTimeout(waiting);
    waiting = 0;
    const typed = new FormData(form);
    typed.set("do", "save");
    const id = typed.get("form");
    fetch(form.action, { method: "POST", body: new URLSearchParams(typed) }).then(
      (answer) => { if (answer.status === 204) history.replaceState(null, "", `${form.getAttribute("action")}/${id}`); },
      () => {},  // it is kept with the next change
    );
  };
  form.addEventListener("input", () => {
    // What was checked is not what stands here any more.
    form.querySelectorAll("[data-sum]").forEach((one) => { one.remove(); });
    clearTimeout(waiting);
    waiting = setTimeout(keep, 1500);
  });
  form.addEventListener("submit", () => { clearTimeout(waiting); waiting = 0; });
  document.addEventListener("visibilitychange", () => { if (document.hidden && waiting) keep(); });
})();
