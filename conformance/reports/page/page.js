const STATUS = { p: "passed", f: "failed", u: "unsupported", c: "crashed", k: "known", "+": "unexpected-pass" };
const BAD = new Set(["failed", "crashed", "unexpected-pass"]);
const STEP = 25;

const statusOf = (adapter, index) => STATUS[adapter.statuses[index]];

function answer(data, adapter, index) {
  const status = statusOf(adapter, index);
  const detail = adapter.details[index] || {};
  const list = make("dl");
  row(list, "reason", data.texts[detail.reason]);
  row(list, `known ${detail.kind || ""}`.trim(), data.texts[detail.deviation]);
  if (detail.got) row(list, "got", make("code", {}, json(detail.got)));
  if (detail.chosen) row(list, "chose", make("code", {}, json(detail.chosen)));
  for (const one of detail.differences || []) {
    const side = (name) => (name in one ? json(one[name]) : "nothing");
    row(list, "difference", `${one.path || "(the answer)"}: expected ${side("expected")}, got ${side("got")}`);
  }
  if (detail.stderr !== undefined) row(list, "stderr", make("pre", {}, data.texts[detail.stderr]));
  if (status !== "passed") row(list, "reproduce", make("code", {}, adapter.reproduce.replace("ID", data.cases[index].id)));
  return make("div", { class: `answer ${status}` },
    make("b", {}, adapter.name), " ", make("span", { class: status }, status), list);
}

function evidence(data, index) {
  const one = data.cases[index];
  const list = make("dl");
  row(list, "asked", make("pre", {}, `${one.operation} ${json(one.args)}`));
  row(list, "expected", make("pre", {}, (one.expect.any_of || [one.expect]).map(json).join("\nor ")));
  for (const code of one.requirements) {
    const rule = data.requirements[code];
    if (rule) list.append(make("dt", {}, make("a", { href: rule.link }, code)), make("dd", {}, `${rule.text} (${rule.section})`));
    else row(list, code, "");
  }
  for (const id of one.contradiction) {
    const open = data.contradictions.find((item) => item.id === id);
    row(list, id, open ? `${open.title}: ${open.decision}` : "");
  }
  row(list, "note", data.texts[one.note]);
  row(list, "origin", data.texts[one.origin]);
  const answers = data.adapters.filter((adapter) => adapter.statuses[index] !== " ");
  const withDetails = answers.filter((adapter) => !["passed", "unsupported"].includes(statusOf(adapter, index)) || adapter.details[index]);
  const names = (status) => answers.filter((adapter) => !withDetails.includes(adapter) && statusOf(adapter, index) === status)
    .map((adapter) => adapter.name).join(", ");
  row(list, "passed by", names("passed"));
  return make("div", { class: "case" }, list, ...withDetails.map((adapter) => answer(data, adapter, index)));
}

function item(data, index) {
  const one = data.cases[index];
  const marks = make("span", { class: "marks" }, ...data.adapters
    .filter((adapter) => adapter.statuses[index] !== " ")
    .map((adapter) => make("i", { class: statusOf(adapter, index), title: `${adapter.name}: ${statusOf(adapter, index)}` })));
  const details = make("details", {}, make("summary", {},
    make("code", {}, one.id), make("span", { class: "none" }, one.requirements.join(" ")),
    make("a", { href: `#case=${address(one.id)}`, title: "the address of this case" }, "#"), marks));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(evidence(data, index));
  });
  return make("li", { "data-id": one.id }, details);
}

function caseList(data) {
  const form = document.getElementById("filter");
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const haystack = data.cases.map((one) =>
    [one.id, one.suite, one.operation, one.section, ...one.requirements, ...one.contradiction, data.texts[one.note]].join(" ").toLowerCase());
  let found = [];
  let only = null; // the one case that the address names

  function matches(index) {
    if (only !== null) return data.cases[index].id === only;
    const { suite, adapter, status, words } = Object.fromEntries(new FormData(form));
    if (suite && data.cases[index].suite !== suite) return false;
    const asked = data.adapters.filter((one) => !adapter || one.name === adapter);
    if (status ? !asked.some((one) => statusOf(one, index) === status) : !asked.some((one) => one.statuses[index] !== " ")) return false;
    return words.toLowerCase().split(/\s+/).every((word) => haystack[index].includes(word));
  }
  function grow() {
    const shown = list.children.length;
    list.append(...found.slice(shown, shown + STEP).map((index) => item(data, index)));
    more.hidden = list.children.length >= found.length;
  }
  function refresh() {
    found = data.cases.map((_, index) => index).filter(matches);
    form.querySelector("output").textContent = `${found.length} of ${data.cases.length} cases`;
    list.replaceChildren();
    grow();
  }
  function addressOfFilter() {
    const chosen = [...new FormData(form)].filter(([, value]) => value);
    return chosen.length ? `#cases?${new URLSearchParams(chosen)}` : "#cases";
  }
  function set(values) {
    only = null;
    form.reset();
    for (const [name, value] of Object.entries(values)) if (form.elements[name]) form.elements[name].value = value;
    refresh();
  }
  form.addEventListener("input", () => {
    only = null;
    refresh();
    history.replaceState(null, "", addressOfFilter());
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", grow);
  refresh();
  function show(values) {
    set(values);
    history.replaceState(null, "", addressOfFilter());
    document.getElementById("cases").scrollIntoView();
  }
  // Go where the address says: to a case, to a filter, or to a section.
  function go() {
    const fragment = location.hash.slice(1);
    if (fragment.startsWith("case=")) {
      set({});
      only = new URLSearchParams(fragment.replaceAll("+", "%2B")).get("case"); // which never throws
      refresh();
      const opened = list.querySelector("details");
      if (opened) opened.open = true;
    } else if (fragment.startsWith("cases?")) set(Object.fromEntries(new URLSearchParams(fragment.slice("cases?".length))));
    const place = document.getElementById(fragment.split(/[=?]/)[0].replace(/^case$/, "cases"));
    if (place) place.scrollIntoView();
  }
  return { show, go };
}

function table(head, rows) {
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, ...head.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell) =>
      make("td", typeof cell === "number" ? { class: "number" } : {}, typeof cell === "number" ? String(cell) : cell)))))));
}

function deviations(data, show) {
  const place = document.querySelector("#deviations div");
  for (const adapter of data.adapters) {
    const causes = new Map();
    for (const [index, detail] of Object.entries(adapter.details)) {
      const status = statusOf(adapter, index);
      if (status !== "known" && !BAD.has(status)) continue;
      const known = detail.deviation !== undefined;
      const cause = known ? data.texts[detail.deviation] : `(${status}) ${data.texts[detail.reason] || ""}`;
      const found = causes.get(cause) || { kind: known ? detail.kind || "deviation" : status, indexes: [] };
      found.indexes.push(Number(index));
      causes.set(cause, found);
    }
    if (!causes.size) continue;
    const rows = [...causes].sort((a, b) => b[1].indexes.length - a[1].indexes.length).map(([cause, { kind, indexes }]) => {
      const example = make("button", { type: "button" }, data.cases[indexes[0]].id);
      example.addEventListener("click", () => show({ words: data.cases[indexes[0]].id }));
      return [indexes.length, kind, cause, example];
    });
    place.append(make("h3", {}, `${adapter.name} ${adapter.identity}`), table(["cases", "kind", "what and why", "for example"], rows));
  }
  if (!place.children.length) place.append(make("p", {}, "None."));
}

function openPoints(data, show) {
  const place = document.querySelector("#open-points div");
  const rows = data.contradictions.map((open) => {
    const sides = new Map();
    for (const adapter of data.adapters) {
      data.cases.forEach((one, index) => {
        const chosen = (adapter.details[index] || {}).chosen;
        if (!one.contradiction.includes(open.id) || chosen === undefined) return;
        const first = json(chosen) === json(one.expect.any_of[0]);
        const kind = "error" in chosen ? "refuses" : "error" in one.expect.any_of[0] || !first ? "another outcome" : "the outcome listed first";
        const names = sides.get(kind) || new Map();
        names.set(adapter.name, (names.get(adapter.name) || 0) + 1);
        sides.set(kind, names);
      });
    }
    const code = make("button", { type: "button" }, open.id);
    code.addEventListener("click", () => show({ words: open.id }));
    const divided = dividedBy(data, open.id);
    const description = make("div", {}, make("b", {}, open.title), make("p", {}, open.texts), make("p", {}, `Decision: ${open.decision}`));
    if (divided) description.append(make("p", { class: "divided" }, `It divides the implementations in ${divided} ${divided === 1 ? "case" : "cases"}.`));
    const list = make("dl");
    for (const [kind, names] of sides) row(list, kind, [...names].map(([name, count]) => `${name} (${count})`).join(", "));
    return { divided, cells: [code, description, make("div", { class: "case" }, list)] };
  }).sort((a, b) => b.divided - a.divided).map((one) => one.cells);
  place.append(rows.length ? table(["", "the texts, and what we decided", "the side that implementations take"], rows) : make("p", {}, "None."));
}

// The number of cases about a point in which two implementations chose different outcomes.
function dividedBy(data, id) {
  return data.cases.filter((one, index) => one.contradiction.includes(id) && new Set(data.adapters
    .map((adapter) => (adapter.details[index] || {}).chosen).filter((chosen) => chosen !== undefined).map(json)).size > 1).length;
}

// The status of a requirement is the worst status of its cases; "unsupported" only if all of them are.
const WORST_FIRST = ["crashed", "failed", "unexpected-pass", "known", "passed", "unsupported"];

function coverage(data, show) {
  const place = document.querySelector("#coverage div");
  const cases = new Map();
  data.cases.forEach((one, index) => one.requirements.forEach((code) => cases.set(code, [...(cases.get(code) || []), index])));
  const sections = new Map();
  for (const [code, rule] of Object.entries(data.requirements)) {
    if (!rule.adopted) continue;
    const name = rule.document === "spec" ? rule.section : `${rule.document}: ${rule.section}`;
    sections.set(name, [...(sections.get(name) || []), code]);
  }
  const statuses = (adapter, code) => (cases.get(code) || []).map((index) => statusOf(adapter, index)).filter(Boolean);
  const worst = (adapter, code) => WORST_FIRST.find((status) => statuses(adapter, code).includes(status));
  const counted = (names) => WORST_FIRST.map((status) => [status, names.filter((one) => one === status).length]).filter(([, count]) => count);
  const countSpans = (counts) => make("div", { class: "counts" }, ...counts.map(([status, count]) => make("span", { class: status }, `${count} ${status}`)));

  function summary(adapter, codes) {
    const counts = counted(codes.map((code) => worst(adapter, code)));
    const width = (count) => `width:${(100 * count) / codes.length}%`;
    return make("td", {}, make("span", { class: "bar" }, ...counts.map(([status, count]) => make("i", { class: status, style: width(count) }))), countSpans(counts));
  }
  function requirement(code) {
    const rule = data.requirements[code];
    const found = cases.get(code) || [];
    const button = make("button", { type: "button", title: `the cases of ${code}` }, `${found.length} ${found.length === 1 ? "case" : "cases"}`);
    button.addEventListener("click", () => show({ words: code }));
    const head = make("th", { scope: "row" }, make("a", { href: rule.link }, code), " ", found.length ? button : make("span", { class: "none" }, "no case in this run"), make("small", {}, rule.text));
    return make("tr", { class: "requirement" }, head, ...data.adapters.map((adapter) => make("td", {}, countSpans(counted(statuses(adapter, code))))));
  }
  const total = [...sections.values()].flat();
  place.append(make("p", {}, `${total.filter((code) => cases.has(code)).length} of ${total.length} requirements have cases in this run.`));
  const isTested = ([, codes]) => codes.some((code) => cases.has(code));
  const bodies = [...sections].sort((one, other) => isTested(other) - isTested(one)).map(([name, codes]) => {
    const toggle = make("button", { type: "button", "aria-expanded": "false", title: `the requirements of ${name}` }, name);
    const small = make("small", {}, `${codes.filter((code) => cases.has(code)).length} of ${codes.length} requirements have cases`);
    const body = make("tbody", {}, make("tr", {}, make("th", { scope: "row" }, toggle, small), ...data.adapters.map((adapter) => summary(adapter, codes))));
    toggle.addEventListener("click", () => {
      const opens = body.children.length === 1;
      if (opens) body.append(...codes.map(requirement));
      else body.replaceChildren(body.firstChild);
      toggle.setAttribute("aria-expanded", String(opens));
    });
    return body;
  });
  const names = data.adapters.map((adapter) => make("th", { scope: "col" }, adapter.name, make("small", {}, adapter.identity)));
  place.append(make("div", { class: "scroll" }, make("table", { class: "matrix coverage" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "section"), ...names)), ...bodies)));
}

unpack().then((data) => {
  const { show, go } = caseList(data);
  document.querySelectorAll(".matrix button").forEach((button) => button.addEventListener("click", () => {
    const { suite, adapter } = button.dataset;
    const statuses = data.adapters.find((one) => one.name === adapter).statuses;
    const worst = ["failed", "crashed", "unexpected-pass", "known"].find((status) =>
      data.cases.some((one, index) => (!suite || one.suite === suite) && STATUS[statuses[index]] === status));
    show({ suite, adapter, status: worst || "" });
  }));
  document.getElementById("notes").append(...data.adapters.flatMap((adapter) =>
    adapter.notes.map((note) => make("li", {}, `${adapter.name}: ${note}`))));
  deviations(data, show);
  openPoints(data, show);
  coverage(data, show);
  go();
  window.addEventListener("hashchange", go);
  document.body.dataset.ready = "yes";
});
