// A picture of what stands around a name: nearer and thicker the more sentences hold both. The list beside it says the
// same, so the picture is for eyes and mice only.

import { svg, html } from "./element.js";

const WIDTH = 640;
const HEIGHT = 420;
const MOST = 14;
const LONGEST = 22;

const shortened = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name);

export function star(name, neighbours, address) {
  const shown = neighbours.slice(0, MOST);
  const most = shown[0].sentences;
  return html`<svg class="star" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true" focusable="false">
    ${shown.map((one, place) => spoke(placeOf(place, shown.length), one.sentences / most))}
    ${shown.map((one, place) => node(placeOf(place, shown.length), one.name, address(one.name)))}
    ${svg`<circle class="centre" cx=${WIDTH / 2} cy=${HEIGHT / 2} r="10"></circle>
      <text class="centre" x=${WIDTH / 2} y=${HEIGHT / 2 - 18}>${shortened(name)}</text>`}
  </svg>`;
}

// On two ovals by turns, so that names leave room to each other.
function placeOf(place, all) {
  const angle = (place / all) * 2 * Math.PI - Math.PI / 2;
  const share = place % 2 ? 0.66 : 1;
  return { x: WIDTH / 2 + Math.cos(angle) * (WIDTH / 2 - 90) * share, y: HEIGHT / 2 + Math.sin(angle) * (HEIGHT / 2 - 34) * share };
}

function spoke({ x, y }, strength) {
  return svg`<line x1=${WIDTH / 2} y1=${HEIGHT / 2} x2=${x} y2=${y} stroke-width=${1 + 4 * strength}></line>`;
}

function node({ x, y }, name, href) {
  return svg`<a href=${href} tabindex="-1"><circle cx=${x} cy=${y} r="6"></circle><text x=${x} y=${y + 20}>${shortened(name)}</text></a>`;
}
