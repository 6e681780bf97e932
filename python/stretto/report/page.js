// SPDX-License-Identifier: BSD-3-Clause
// A click on a column's head sorts by it: numbers largest first, then the other way round.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const numbers = head.classList.contains("number");
    const before = head.getAttribute("aria-sort");
    const falls = before ? before === "ascending" : numbers;
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const order = (a, b) => (numbers ? value(a) - value(b) : value(a).localeCompare(value(b)));
    body.append(...[...body.rows].sort((a, b) => (falls ? order(b, a) : order(a, b))));
  });
}
