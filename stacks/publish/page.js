"use strict";
(() => {
  const table = document.getElementById("timings");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const heads = [...table.tHead.rows[0].cells];
  const column = Object.fromEntries(heads.map((head) => [head.textContent, head.cellIndex]));
  const order = new Intl.Collator("en", { numeric: true });

  function filter() {
    const wanted = [...form.querySelectorAll("select")].filter((select) => select.value);
    const other = (row) => (select) => row.cells[column[select.name]].textContent !== select.value;
    for (const row of rows) row.hidden = wanted.some(other(row));
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = shown === rows.length ? `${shown} figures` : `${shown} of ${rows.length} figures`;
  }

  function sort(head) {
    const at = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("number");
    const key = (row) => row.cells[at].dataset.sort ?? row.cells[at].textContent;
    const before = (a, b) => {
      const [left, right] = [key(a), key(b)];
      // What has no value stays below, whichever way it is sorted.
      if (left === "" || right === "") return (left === "") - (right === "");
      const found = numeric ? Number(left) - Number(right) : order.compare(left, right);
      return down ? -found : found;
    };
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.sort(before));
  }

  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head));
    head.replaceChildren(button);
  }
  form.addEventListener("change", filter);
  form.addEventListener("reset", (event) => {
    // The fields would be emptied only after this.
    event.preventDefault();
    for (const select of form.querySelectorAll("select")) select.value = "";
    filter();
  });
  form.hidden = false;
  // A browser may fill the fields again when a page is reloaded.
  filter();
})();
