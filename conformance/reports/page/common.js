"use strict";
// Everything that is not ours becomes text, never markup: only `make` builds elements.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const address = (text) => encodeURIComponent(text.toWellFormed ? text.toWellFormed() : text);
const json = (value) => JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");

function row(list, name, value) {
  if (value !== "" && value !== null && value !== undefined) list.append(make("dt", {}, name), make("dd", {}, value));
}
