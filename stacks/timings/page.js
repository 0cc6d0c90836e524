"use strict";
(() => {
  const form = document.getElementById("filters");
  const selects = [...form.querySelectorAll("select")];
  const text = (cell) => cell.textContent.trim();
  const order = new Intl.Collator("en", { numeric: true });

  const filtered = document.querySelectorAll(selects.map((select) => `[data-${select.name}]`).join());

  function counted(rows, name) {
    const visible = [...rows].filter((row) => !row.closest("[hidden]")).length;
    return visible === rows.length ? `${visible} ${name}` : `${visible} of ${rows.length} ${name}`;
  }

  function filter() {
    const chosen = selects.filter((select) => select.value);
    for (const element of filtered)
      element.hidden = chosen.some(({ name, value }) => (element.dataset[name] ?? value) !== value);
    const rows = document.querySelectorAll("[aria-labelledby=all] tbody tr");
    document.getElementById("count").textContent = counted(rows, "environments");
  }

  function sort(table, head) {
    const at = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("number");
    const key = (row) => row.cells[at].dataset.sort ?? text(row.cells[at]);
    const before = (a, b) => {
      const [left, right] = [key(a), key(b)];
      // Rows without a value stay at the bottom in both directions.
      if (left === "" || right === "") return (left === "") - (right === "");
      const difference = numeric ? Number(left) - Number(right) : order.compare(left, right);
      return down ? -difference : difference;
    };
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(before));
  }

  for (const table of document.querySelectorAll("[aria-labelledby=all] table, details.machine table")) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head));
      head.append(button);
    }
  }
  form.addEventListener("change", filter);
  form.addEventListener("reset", (event) => {
    // The browser would clear the fields only after this event.
    event.preventDefault();
    for (const select of selects) select.value = "";
    filter();
  });
  form.hidden = false;
  // A browser may restore the fields when a page is reloaded.
  filter();

  const theme = document.getElementById("theme");
  const dark = document.getElementById("dark");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = (value) => {
    // A browser may forbid the storage.
    try {
      if (value) localStorage.setItem("theme", value);
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };

  function paint(value) {
    const isDark = value ? value === "dark" : system.matches;
    if (value) dark.media = isDark ? "screen" : "not all";
    theme.setAttribute("aria-pressed", isDark);
  }

  theme.addEventListener("click", () => {
    const value = theme.getAttribute("aria-pressed") === "true" ? "light" : "dark";
    stored(value);
    paint(value);
  });
  system.addEventListener("change", () => paint(stored()));
  theme.hidden = false;
  paint(stored());
})();
