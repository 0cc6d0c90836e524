"use strict";
(() => {
  const table = document.getElementById("timings");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const form = document.getElementById("filters");
  const count = document.getElementById("count");
  const order = new Intl.Collator("en", { numeric: true });

  function filter() {
    const wanted = [...form.querySelectorAll("select")].filter((select) => select.value);
    for (const row of rows) {
      row.hidden = wanted.some((select) => row.dataset[select.name] !== select.value);
    }
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
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.sort(before));
  }

  for (const head of table.tHead.rows[0].cells) {
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
