// Adds a button that copies a block of code. Without scripts, or over plain HTTP, the pages are complete without it.
if (navigator.clipboard) {
  const [copy, copied] = document.documentElement.lang === "es" ? ["Copiar", "Copiado"] : ["Copy", "Copied"];
  for (const code of document.querySelectorAll("pre > code")) {
    const text = code.textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = copied;
    });
    code.before(button);
  }
}
// Shows every example in the language that the reader picked last, on the next page too.
const pick = (language) => {
  for (const tab of document.querySelectorAll(`.tabs [value="${CSS.escape(language)}"]`)) tab.checked = true;
};
for (const tabs of document.querySelectorAll(".tabs")) {
  tabs.addEventListener("change", ({ target }) => {
    pick(target.value);
    sessionStorage.setItem("language", target.value);
  });
}
pick(sessionStorage.getItem("language") ?? "");
