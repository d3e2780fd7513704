"use strict";
// The form of a receipt: rows, totals and change while one types, the keyboard, and the draft. Without this file the
// server adds rows and computes when the form is checked, and keeps the draft with each button.

const DECIMALS = 8, ONE = 10n ** BigInt(DECIMALS), CENT = ONE / 100n;

// An amount as people type it, in units of 10^-8; null where it is none. As fe/portal/receipt/entry.py reads it.
function readAmount(text) {
  const plain = text.trim().replace(/^(?:RD)?\$?\s*/i, "");
  const found = /^([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?$/.exec(plain);
  if (!found || plain.replaceAll(",", "").length > 24 || (found[3] ?? "").length > DECIMALS) return null;
  const units = BigInt(found[2].replaceAll(",", "") + (found[3] ?? "").padEnd(DECIMALS, "0"));
  return found[1] === "-" ? -units : units;
}

// over / under, rounded half up (away from zero) to a multiple of `step`, in units.
function rounded(over, under, step) {
  const size = over < 0n ? -over : over, parts = ONE / step;
  const found = (2n * parts * size + under) / (2n * under) * step;
  return over < 0n ? -found : found;
}
const cents = (over, under) => rounded(over, under, CENT);

// An amount of pesos in another currency, and a price in it in pesos, as fe/ecf/currency.py and the form convert them.
const inOther = (total, rate) => cents(total, rate);
const inPesos = (price, rate) => rounded(price * rate, ONE * ONE, ONE / 10000n);

const lineAmount = (line) => cents(line.price * line.quantity, ONE * ONE) - line.discount;

// Total and ITBIS as fe/ecf/totals.py composes them. A line has price, quantity, discount and rate (IndicadorFacturacion),
// an adjustment sign, amount or percent (null: none) and rate; `vat` has the rates of the type, and whether it has exempt lines.
function totalOf(lines, adjustments, isIncluded, vat) {
  const sums = [0n, 0n, 0n, 0n, 0n], billed = new Set(), adjusted = [0n, 0n, 0n, 0n, 0n];
  for (const line of lines) {
    sums[line.rate] += lineAmount(line);
    billed.add(line.rate);
  }
  const percentOf = (rate) => ({ 1: 18n, 2: 16n })[rate] ?? 0n;
  const net = (rate) => isIncluded ? cents(sums[rate] * 100n, ONE * (100n + percentOf(rate))) : cents(sums[rate], ONE);
  const kinds = [1, 2, 3, 4].filter((rate) => billed.has(rate));
  for (const one of adjustments) {
    const rate = one.rate ?? (kinds.length === 1 ? kinds[0] : 0);
    if (!rate) continue;
    adjusted[rate] += one.sign * (one.amount ?? (one.percent === null ? 0n : cents(net(rate) * one.percent, ONE * 100n * ONE)));
    billed.add(rate);
  }
  let total = 0n, tax = 0n;
  for (const rate of vat.rates) {
    if (!billed.has(rate)) continue;
    const base = net(rate) + adjusted[rate], itbis = cents(base * percentOf(rate), ONE * 100n);
    total += base + itbis;
    tax += itbis;
  }
  if (vat.exempt && billed.has(4)) total += cents(sums[4] + adjusted[4], ONE);
  return { total: cents(total, ONE), tax: cents(tax, ONE) };
}

// 2913.42 as 2,913.42.
function showAmount(units) {
  const size = String((units < 0n ? -units : units) / CENT).padStart(3, "0");
  return `${units < 0n ? "-" : ""}${size.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",")}.${size.slice(-2)}`;
}

(() => {
  const form = document.querySelector("form.receipt");
  if (!form) return;

  const tail = /-\d+$/;
  const vat = JSON.parse(form.dataset.vat);
  const rowsOf = (key) => form.querySelector(`[data-rows="${key}"]`);
  const inRow = (row, name) => row.querySelector(`[name="${name}"]`);
  const mainOf = (row) => [...row.querySelectorAll(".main input, .main select")];

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
    const rows = rowsOf(key), before = rows.lastElementChild;
    if (rows.children.length >= Number(rows.dataset.most)) return;
    const row = form.querySelector(`template[data-blank="${key}"]`).content.firstElementChild.cloneNode(true);
    for (const one of row.querySelectorAll("[data-kept]")) {
      const last = before && inRow(before, one.name);
      if (last) one.value = last.value;
    }
    rows.append(row);
    number(rows);
    reckon();
    row.querySelector("input, select").focus();
  };

  const remove = (key, row) => {
    const rows = rowsOf(key);
    const after = row.nextElementSibling || row.previousElementSibling;
    row.remove();
    changed();
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

  // -- totals while one types; the server computes what is issued ----------------------------------------------------

  const amountIn = (row, name, otherwise) => {
    const text = inRow(row, name)?.value.trim() ?? "";
    return text ? readAmount(text) : otherwise;
  };
  const isBlank = (row) => !inRow(row, "item.NombreItem").value && !inRow(row, "item.PrecioUnitarioItem").value;

  const exchangeRate = () => {
    const rate = readAmount(form.elements["Encabezado.OtraMoneda.TipoCambio"]?.value ?? "");
    return form.elements["Encabezado.OtraMoneda.TipoMoneda"]?.value && rate > 0n ? rate : null;
  };
  const priceIn = (row) => {
    const price = amountIn(row, "item.PrecioUnitarioItem", undefined);
    if (price !== undefined) return price;
    const other = amountIn(row, "item.OtraMonedaDetalle.PrecioOtraMoneda", null), rate = exchangeRate();
    return other === null || rate === null ? null : inPesos(other, rate);
  };
  const readLine = (row) => {
    const rate = inRow(row, "item.IndicadorFacturacion").value || "4";
    const line = {
      price: priceIn(row),
      quantity: amountIn(row, "item.CantidadItem", null),
      discount: amountIn(row, "item.DescuentoMonto", 0n),
      rate: Number(rate),
    };
    return ![line.price, line.quantity, line.discount].includes(null) && /^[0-4]$/.test(rate) ? line : null;
  };
  const readAdjustment = (row) => {
    const isPercent = inRow(row, "adjust.TipoValor").value === "%";
    const value = amountIn(row, "adjust.ValorDescuentooRecargo", null);
    const text = inRow(row, "adjust.MontoDescuentooRecargo").value;
    return {
      sign: inRow(row, "adjust.TipoAjuste").value === "R" ? 1n : -1n,
      amount: text ? readAmount(text) : null,
      percent: isPercent ? value : null,
      rate: Number(inRow(row, "adjust.IndicadorFacturacionDescuentooRecargo")?.value) || null,
    };
  };
  const put = (selector, text) => { form.querySelectorAll(selector).forEach((one) => { one.textContent = text; }); };

  // What a line has of the one before is folded: the fold's caption says it, as the server's page does.
  const meaning = (one) => [...(one.list ?? one).options].find((code) => code.value === one.value)?.text;
  const caption = (row) => [...row.querySelectorAll("[data-kept]")].filter((one) => one.value).map(meaning).filter(Boolean);

  const reckon = () => {
    const lines = [...rowsOf("item").children].map((row) => {
      const line = readLine(row);
      row.querySelector("summary small").textContent = caption(row).join(" · ");
      row.querySelector("[data-amount]").textContent = line ? showAmount(lineAmount(line)) : "";
      return isBlank(row) ? undefined : line;
    }).filter((line) => line !== undefined);
    const adjustments = [...rowsOf("adjust")?.children ?? []].map(readAdjustment);
    const isRead = lines.length > 0 && !lines.includes(null);
    const hasMore = [...form.querySelectorAll('[name="item.more"]'), form.elements.more].some((one) => one.value.trim());
    const isIncluded = form.elements["Encabezado.IdDoc.IndicadorMontoGravado"]?.checked ?? false;
    const sum = isRead && !hasMore ? totalOf(lines, adjustments, isIncluded, vat) : null;
    show(sum);
    clearTimeout(asking);
    turn += 1;
    if (isRead && hasMore) asking = setTimeout(ask, 300, turn);
  };

  const show = (sum) => {
    const paid = form.elements.paid ? readAmount(form.elements.paid.value) : null, rate = exchangeRate();
    const currency = form.elements["Encabezado.OtraMoneda.TipoMoneda"]?.value;
    put("[data-sum]", sum ? ` · RD$ ${showAmount(sum.total)}` : "");
    put("[data-vat-sum]", sum ? showAmount(sum.tax) : "");
    put("[data-other-sum]", sum && rate ? `${currency} ${showAmount(inOther(sum.total, rate))}` : "");
    put(".actions [data-change]", sum && paid !== null && paid >= sum.total ? showAmount(paid - sum.total) : "");
    form.elements.shown.value = sum ? showAmount(sum.total).replaceAll(",", "") : "";
  };

  // Taxes beside ITBIS, and other fields: the server computes with them.
  let turn = 0, asking = 0;
  const ask = async (number) => {
    const typed = new FormData(form);
    typed.set("do", "total");
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(typed) }).catch(() => null);
    const found = answer?.status === 200 ? await answer.json() : {};
    if (number !== turn || !found.MontoTotal) return;
    show({ total: readAmount(found.MontoTotal), tax: readAmount(found.TotalITBIS ?? "0") });
  };

  // -- customers and products of the catalogue -----------------------------------------------------------------------

  // Prices stand in the form with ITBIS or without: the first price decides, later ones are converted to 4 decimals.
  const fillLine = (row, fills) => {
    const box = form.elements["Encabezado.IdDoc.IndicadorMontoGravado"];
    const others = [...rowsOf("item").children].filter((one) => one !== row && inRow(one, "item.PrecioUnitarioItem").value);
    for (const [name, value] of Object.entries(fills)) {
      const field = name.startsWith("item.") && inRow(row, name);
      if (field && (field.tagName !== "SELECT" || [...field.options].some((one) => one.value === value))) field.value = value;
    }
    if (!box || fills.included === undefined || box.checked === (fills.included === "1")) return;
    if (!others.length) { box.checked = fills.included === "1"; return; }
    const rate = 100n + ({ 1: 18n, 2: 16n }[inRow(row, "item.IndicadorFacturacion").value] ?? 0n);
    const price = readAmount(fills["item.PrecioUnitarioItem"] ?? "");
    if (price === null || rate === 100n) return;
    const scaled = box.checked ? cents(price * 100n * rate, 100n * ONE) : cents(price * 10000n, rate * ONE);
    const digits = String(scaled / CENT).padStart(5, "0");
    inRow(row, "item.PrecioUnitarioItem").value = `${digits.slice(0, -4)}.${digits.slice(-4)}`;
  };

  const chooseProduct = (fills) => {
    const rows = rowsOf("item"), last = rows.lastElementChild;
    const quantity = readAmount(inRow(last, "item.CantidadItem").value);
    if (inRow(last, "item.NombreItem").value === fills["item.NombreItem"] && quantity !== null) {
      inRow(last, "item.CantidadItem").value = showAmount(quantity + ONE).replace(/,|\.00$/g, "");
    } else {
      if (![...rows.children].some(isBlank)) add("item");
      fillLine([...rows.children].find(isBlank) ?? last, fills);
    }
    changed();
  };

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-fills]");
    if (!button) return;
    event.preventDefault();
    chooseProduct(JSON.parse(button.dataset.fills));
  });

  // The list below a field, as one types. It is a combobox of ARIA: the focus stays in the field.
  const list = Object.assign(document.createElement("ul"), { id: "choices", className: "choices", hidden: true });
  list.setAttribute("role", "listbox");
  let searching = 0, asked = 0;

  const close = () => {
    clearTimeout(searching);
    asked += 1;
    list.hidden = true;
    list.previousElementSibling?.setAttribute("aria-expanded", "false");
    list.previousElementSibling?.removeAttribute("aria-activedescendant");
  };
  const choose = (option) => {
    const field = list.previousElementSibling, fills = JSON.parse(option.dataset.fills);
    close();
    if (field.dataset.search === "product") {
      const row = field.closest("fieldset.line");
      fillLine(row, fills);
      inRow(row, "item.CantidadItem").select();
    } else {
      for (const [name, value] of Object.entries(fills)) if (value && form.elements[name]) form.elements[name].value = value;
    }
    changed();
  };
  const search = async (field) => {
    const number = asked += 1;
    const query = new URLSearchParams({ of: field.dataset.search, q: field.value });
    const answer = await fetch(`${form.dataset.options}?${query}`).catch(() => null);
    if (!answer?.ok || number !== asked || document.activeElement !== field) return;
    list.innerHTML = await answer.text();  // made by our server, which escapes
    field.after(list);
    list.setAttribute("aria-label", field.labels[0].textContent);
    list.hidden = !list.children.length;
    field.setAttribute("aria-expanded", String(!list.hidden));
  };
  form.addEventListener("focusin", ({ target }) => {
    if (!target.dataset?.search || target.getAttribute("role")) return;
    target.removeAttribute("list");
    target.setAttribute("role", "combobox");
    for (const [name, value] of [["expanded", "false"], ["autocomplete", "list"], ["controls", "choices"]]) target.setAttribute(`aria-${name}`, value);
    if (!list.parentElement) target.after(list);
  });
  form.addEventListener("input", ({ target }) => {
    if (!target.dataset?.search) return;
    clearTimeout(searching);
    searching = setTimeout(search, 120, target);
  });
  form.addEventListener("focusout", close);
  list.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const option = event.target.closest("[role=option]");
    if (option) choose(option);
  });
  form.addEventListener("keydown", (event) => {
    if (list.hidden || !event.target.dataset?.search) return;
    const options = [...list.children], active = list.querySelector("[aria-selected=true]");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && active && !event.ctrlKey) choose(active);
    else if (step) {
      active?.removeAttribute("aria-selected");
      const at = active ? options.indexOf(active) + step : step > 0 ? 0 : -1;
      const next = options.at(at % options.length);
      next.setAttribute("aria-selected", "true");
      event.target.setAttribute("aria-activedescendant", next.id);
    } else return;
    event.preventDefault();
  });

  // -- the keyboard --------------------------------------------------------------------------------------------------

  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      form.querySelector("button[value=issue]").click();
      return;
    }
    const row = event.target.closest(".main") && event.target.closest("fieldset.line");
    if (!row || event.target.tagName !== "INPUT") return;
    event.preventDefault();
    const fields = mainOf(row), next = fields[fields.indexOf(event.target) + 1];
    if (next) { next.focus(); next.select?.(); return; }
    if (row.nextElementSibling) row.nextElementSibling.querySelector("input").focus();
    else if (!isBlank(row)) add("item");
  });

  // -- the draft: kept a moment later, and when the tab is left: the browser may drop it ----------------------------

  let waiting = 0;
  const keep = () => {
    clearTimeout(waiting);
    waiting = 0;
    const typed = new FormData(form);
    typed.set("do", "save");
    const id = typed.get("form");
    const body = new URLSearchParams(typed);
    // It outlives the page that is left; browsers take no more than 64 KB of that.
    const keepalive = `${body}`.length < 60000;
    fetch(form.action, { method: "POST", body, keepalive }).then(
      (answer) => { if (answer.status === 204) history.replaceState(null, "", `${form.getAttribute("action")}/${id}`); },
      () => {},  // it is kept with the next change
    );
  };
  const changed = () => {
    reckon();
    clearTimeout(waiting);
    waiting = setTimeout(keep, 1500);
  };
  form.addEventListener("input", changed);
  form.elements.sequence?.addEventListener("change", ({ target }) => put("[data-next]", target.selectedOptions?.[0]?.dataset.next));
  form.addEventListener("submit", () => { clearTimeout(waiting); waiting = 0; });
  document.addEventListener("visibilitychange", () => { if (document.hidden && waiting) keep(); });
  reckon();

  // A keyboard begins in the first field to fill in; on a touch screen that would cover the page.
  if (matchMedia("(pointer: fine)").matches && document.activeElement === document.body) {
    [...form.querySelectorAll("section:first-of-type .row input, .main input")].find((one) => !one.value)?.focus();
  }
})();
