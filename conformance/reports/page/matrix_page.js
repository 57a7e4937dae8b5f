const SIGNS = { passed: "✔", known: "k", failed: "✖", rejected: "r", crashed: "!", unsupported: "–" };

function evidence(data, table, consumer) {
  const list = make("dl");
  const cell = consumer === null ? null : table.cells[consumer];
  row(list, "table", `${table.name} of ${table.producer}`);
  row(list, "about", table.about);
  row(list, "features", table.features.map((index) => data.features[index]).join(", "));
  if (cell === null) {
    row(list, "outcome", `${table.outcome}: ${table.reason}`);
    row(list, "known", table.known);
    row(list, "reproduce", make("code", {}, table.reproduce));
    return list;
  }
  row(list, "consumer", `${data.consumers[consumer]}: ${cell.outcome}`);
  row(list, "asked", cell.case);
  row(list, "reason", cell.reason);
  for (const one of cell.differences || []) {
    const side = (name) => (name in one ? json(one[name]) : "nothing");
    row(list, "difference", `${one.path || "(the answer)"}: expected ${side("expected")}, got ${side("got")}`);
  }
  row(list, "known", cell.known);
  row(list, "reproduce", make("code", {}, `${table.reproduce} --consumer ${data.consumers[consumer]}`));
  return list;
}

const status = (cell) => (cell.known ? "known" : cell.outcome);

function start(data) {
  const form = document.getElementById("filter");
  const detail = document.getElementById("detail");
  const head = document.querySelector("#grid thead");
  const body = document.querySelector("#grid tbody");
  let open = null;

  function showEvidence(button, table, consumer) {
    if (open !== null) open.setAttribute("aria-expanded", "false");
    open = button;
    button.setAttribute("aria-expanded", "true");
    detail.replaceChildren(evidence(data, table, consumer));
  }

  function cellOf(table, consumer) {
    const cell = table.cells[consumer];
    if (!cell) return make("td");
    const name = status(cell);
    const label = `${table.name}, ${data.consumers[consumer]}: ${cell.outcome}${cell.known ? ", known" : ""}`;
    const button = make("button", { type: "button", class: name, title: label, "aria-label": label, "aria-expanded": "false" }, SIGNS[name]);
    button.addEventListener("click", () => showEvidence(button, table, consumer));
    return make("td", {}, button);
  }

  function rowOf(table, shown) {
    const name = make("th", { scope: "row" }, make("code", {}, table.name));
    if (table.outcome !== "passed") {
      const class_ = table.known ? "known" : table.outcome;
      const button = make("button", { type: "button", class: `writing ${class_}`, "aria-expanded": "false" }, table.outcome);
      button.addEventListener("click", () => showEvidence(button, table, null));
      name.append(button);
    }
    return make("tr", {}, name, ...shown.map((consumer) => cellOf(table, consumer)));
  }

  function matches(table, wanted) {
    if (wanted.producer && table.producer !== wanted.producer) return false;
    if (wanted.feature && !table.features.includes(data.features.indexOf(wanted.feature))) return false;
    if (wanted.layout && table.layout !== wanted.layout) return false;
    if (wanted.words && !`${table.name} ${table.about}`.toLowerCase().includes(wanted.words.toLowerCase())) return false;
    if (!wanted.status) return true;
    const cells = wanted.consumer ? [table.cells[data.consumers.indexOf(wanted.consumer)]] : table.cells;
    return cells.some((cell) => cell && status(cell) === wanted.status);
  }

  function show() {
    const wanted = Object.fromEntries(new FormData(form));
    const shown = [...data.consumers.keys()].filter((index) => !wanted.consumer || data.consumers[index] === wanted.consumer);
    const tables = data.tables.filter((table) => matches(table, wanted));
    detail.replaceChildren();
    head.replaceChildren(make("tr", {}, make("th", { scope: "col" }, "table"), ...shown.map((index) => make("th", { scope: "col" }, data.consumers[index]))));
    const rows = [];
    let producer = null;
    for (const table of tables) {
      if (table.producer !== producer) {
        producer = table.producer;
        rows.push(make("tr", {}, make("th", { scope: "rowgroup", colspan: String(shown.length + 1) }, producer)));
      }
      rows.push(rowOf(table, shown));
    }
    body.replaceChildren(...rows);
    form.querySelector("output").textContent = `${tables.length} of ${data.tables.length} tables`;
  }

  for (const button of document.querySelectorAll("table.matrix button")) {
    button.addEventListener("click", () => {
      form.reset();
      for (const name of ["producer", "feature", "layout", "consumer"]) {
        if (button.dataset[name] !== undefined) form.elements[name].value = button.dataset[name];
      }
      show();
      document.getElementById("grid").scrollIntoView();
    });
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}

unpack().then(start);
