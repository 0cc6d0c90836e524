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
    const selected = [...form.querySelectorAll("select")].filter((select) => select.value);
    const other = (row) => (select) => row.cells[column[select.name]].textContent !== select.value;
    for (const row of rows) row.hidden = selected.some(other(row));
    const visible = rows.filter((row) => !row.hidden).length;
    count.textContent = visible === rows.length ? `${visible} figures` : `${visible} of ${rows.length} figures`;
  }

  function sort(head) {
    const at = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("number");
    const key = (row) => row.cells[at].dataset.sort ?? row.cells[at].textContent;
    const before = (a, b) => {
      const [left, right] = [key(a), key(b)];
      // Rows without a value stay at the bottom in both directions.
      if (left === "" || right === "") return (left === "") - (right === "");
      const difference = numeric ? Number(left) - Number(right) : order.compare(left, right);
      return down ? -difference : difference;
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
    // The browser would clear the fields only after this event.
    event.preventDefault();
    for (const select of form.querySelectorAll("select")) select.value = "";
    filter();
  });
  form.hidden = false;
  // A browser may restore the fields when a page is reloaded.
  filter();
})();
