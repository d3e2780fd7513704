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
