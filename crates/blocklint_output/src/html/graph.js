// The paths to a cause, as a graph from left to right: functions that must not block, the functions between, the call.

const NODE = { height: 42, gap: 12, least: 84, most: 186 };
/** Room between two columns: less of it where that shows the whole path. */
const BETWEEN = [44, 30, 20];
/** Below this scale names are too small to read. */
const LEAST_SCALE = 0.76;
const MOST_ENTRIES = 12;

/** Which nodes are drawn: of many entry points only some, and one node for the rest. */
function drawn(group, selected, all) {
  const { nodes, edges, paths } = group.graph;
  const list = nodes.map(([name, kind, distance, findings], number) => ({ number, name, kind, distance, findings, members: [number] }));
  const hasCallers = new Set(edges.map(([, to]) => to));
  const ends = list.filter((node) => node.kind === 'entry' && !hasCallers.has(node.number));
  const onPath = new Set(selected === undefined ? [] : paths[selected]);
  const links = edges.map(([from, to, findings]) => ({ from, to, findings }));
  if (all || ends.length <= MOST_ENTRIES + 1) return { list, links, more: 0 };
  ends.sort((a, b) => Number(onPath.has(b.number)) - Number(onPath.has(a.number)) || b.findings - a.findings);
  const hidden = new Set(ends.slice(MOST_ENTRIES).map((node) => node.number));
  const rest = { number: nodes.length, name: `${plural(hidden.size, 'more function')}`, kind: 'more', distance: 0, findings: 0, members: [...hidden] };
  const merged = new Map();
  for (const link of links) {
    const from = hidden.has(link.from) ? rest.number : link.from;
    if (from === rest.number) {
      rest.findings += link.findings;
      rest.distance = Math.max(rest.distance, nodes[link.to][2] + 1);
    }
    const key = `${from} ${link.to}`;
    const known = merged.get(key);
    if (known) known.findings += link.findings;
    else merged.set(key, { from, to: link.to, findings: link.findings });
  }
  return { list: [...list.filter((node) => !hidden.has(node.number)), rest], links: [...merged.values()], more: hidden.size };
}

/** Columns, order and places of the nodes: layers by their distance to the end, few crossings, even gaps. Columns are narrow where they would not fit into `room`. */
function layout(list, links, under, room) {
  const byNumber = new Map(list.map((node) => [node.number, node]));
  const deepest = Math.max(...list.map((node) => node.distance), 0);
  const columns = Array.from({ length: deepest + 1 }, () => []);
  for (const node of list) columns[deepest - node.distance].push(node);
  // What runs past a column has a place in it.
  const routes = links.map((link) => {
    const [from, to] = [byNumber.get(link.from), byNumber.get(link.to)];
    const route = { link, from, to, points: [from] };
    for (let distance = from.distance - 1; distance > to.distance; distance -= 1) {
      const bend = { bend: true, distance, height: 10 };
      columns[deepest - distance].push(bend);
      route.points.push(bend);
    }
    route.points.push(to);
    return route;
  });
  const before = new Map();
  const after = new Map();
  const put = (map, key, value) => (map.has(key) ? map.get(key).push(value) : map.set(key, [value]));
  for (const { points, from, to } of routes) {
    if (from.distance <= to.distance) continue;
    for (let at = 1; at < points.length; at += 1) {
      put(after, points[at - 1], points[at]);
      put(before, points[at], points[at - 1]);
    }
  }
  const number = (column) => column.forEach((node, at) => { node.order = at; });
  columns.forEach(number);
  const middle = (node, near) => {
    const around = near.get(node);
    return around ? around.reduce((sum, other) => sum + other.order, 0) / around.length : node.order;
  };
  for (let sweep = 0; sweep < 6; sweep += 1) {
    const near = sweep % 2 ? before : after;
    const order = sweep % 2 ? columns : [...columns].reverse();
    for (const column of order) {
      for (const node of column) node.weight = middle(node, near);
      column.sort((a, b) => a.weight - b.weight || a.order - b.order);
      number(column);
    }
  }
  for (const column of columns) {
    const widths = column.filter((node) => !node.bend).map((node) => Math.max(measured(nodeTitle(node), node), measured(plain(under(node)), node, true)) + 28);
    column.wanted = Math.max(NODE.least, ...widths);
  }
  const [between, most] = widths(columns, room / LEAST_SCALE);
  let x = 12;
  let tallest = 0;
  for (const column of columns) {
    const width = Math.min(isEnd(columns, column) ? NODE.most : most, column.wanted);
    let y = 0;
    for (const node of column) {
      Object.assign(node, { x, y, width: node.bend ? width : width, height: node.bend ? 10 : NODE.height });
      y += node.height + NODE.gap;
    }
    column.tall = Math.max(0, y - NODE.gap);
    tallest = Math.max(tallest, column.tall);
    x += width + between;
  }
  for (const column of columns) for (const node of column) node.y += (tallest - column.tall) / 2 + 12;
  return { nodes: list, routes, width: x - between + 12, height: tallest + 24 };
}

/** The call that blocks is read as a whole, however narrow the others are. */
const isEnd = (columns, column) => column === columns[columns.length - 1];

/** The room between columns and the most that one may be wide, so that all of them fit into a width. */
function widths(columns, width) {
  const needed = (between, most) => columns.reduce((sum, column) => sum + Math.min(isEnd(columns, column) ? NODE.most : most, column.wanted) + between, 24 - between);
  for (const between of BETWEEN) {
    // Less room between columns before names get so short that they are guessed.
    const least = between === BETWEEN[BETWEEN.length - 1] ? NODE.least : 130;
    for (let most = NODE.most; most >= least; most -= 2) if (needed(between, most) <= width) return [between, most];
  }
  return [BETWEEN[BETWEEN.length - 1], NODE.least];
}

const nodeTitle = (node) => plain(node.kind === 'call' || node.kind === 'more' ? node.name : nameParts(node.name)[0]);

const pen = document.createElement('canvas').getContext('2d');
const families = {};
/** How wide a text is as the name of a node, or as what stands below it. */
function measured(text, node, isBelow) {
  const name = node.kind === 'call' && !isBelow ? '--mono' : '--ui';
  families[name] = families[name] || getComputedStyle(document.documentElement).getPropertyValue(name);
  pen.font = `${isBelow ? '400 10.5px' : node.kind === 'call' ? '600 11.5px' : '600 12.5px'} ${families[name]}`;
  return pen.measureText(text).width;
}

/** As much of a text as there is room for; its end where that tells more. */
function fitted(text, node, isBelow, keepsEnd) {
  const room = node.width - 24;
  if (measured(text, node, isBelow) <= room) return text;
  let length = Array.from(text).length;
  const cut = keepsEnd ? tail : head;
  while (length > 3 && measured(cut(text, length), node, isBelow) > room) length -= 1;
  return cut(text, length);
}

function routePath(route) {
  const middle = (node) => node.y + node.height / 2;
  const { from, to, points } = route;
  if (from.distance <= to.distance) {
    // Back to where it came from, below.
    const low = Math.max(from.y + from.height, to.y + to.height) + 18;
    return `M${from.x + from.width / 2} ${from.y + from.height}C${from.x + from.width / 2} ${low} ${to.x + to.width / 2} ${low} ${to.x + to.width / 2} ${to.y + to.height}`;
  }
  let path = `M${from.x + from.width} ${middle(from)}`;
  let x = from.x + from.width;
  let y = middle(from);
  for (const node of points.slice(1)) {
    const bend = (node.x - x) / 2;
    path += `C${x + bend} ${y} ${node.x - bend} ${middle(node)} ${node.x} ${middle(node)}`;
    if (node.bend) path += `H${node.x + node.width}`;
    x = node.x + node.width;
    y = middle(node);
  }
  return path;
}

/** The graph of a group. `choose(finding)` is called with the index of a finding in the group when one of its nodes is chosen. */
class PathView {
  constructor(report, group, choose) {
    Object.assign(this, { report, group, choose, all: false, scale: 1 });
    this.stage = svg('g', {});
    this.picture = svg('svg', { class: 'graph', role: 'group', 'aria-label': 'the paths to the blocking call' }, this.stage);
    const button = (name, title, act) => h('button', { type: 'button', class: 'quiet', title, 'aria-label': title, on: { click: act } }, icon(name, 14));
    this.box = h('div', { class: 'graph-room' }, this.picture);
    this.element = h('div', { class: 'graph-box' }, this.box, h('div', { class: 'graph-tools' },
      button('minus', 'Zoom out', () => this.zoom(1 / 1.25)), button('plus', 'Zoom in', () => this.zoom(1.25)), button('fit', 'Fit', () => this.fit())));
    this.drag();
  }

  /** Shows the path of a finding, by its index in the group. */
  show(selected) {
    this.selected = selected;
    this.draw();
    if (this.shown) this.apply();
    else this.fitScale();
    this.shown = true;
  }

  get room() {
    return this.element.clientWidth || 800;
  }

  draw() {
    const { selected } = this;
    const { list, links } = drawn(this.group, selected, this.all);
    this.plan = layout(list, links, (node) => this.underline(node), this.room);
    const path = (selected !== undefined && this.group.graph.paths[selected]) || [];
    const isOn = new Set(path.slice(1).map((to, at) => `${path[at]} ${to}`));
    const nodesOn = new Set(path);
    this.stage.replaceChildren();
    const widest = Math.max(...links.map((link) => link.findings), 1);
    const lines = this.plan.routes.map((route) => {
      const on = isOn.has(`${route.link.from} ${route.link.to}`);
      const width = 1.2 + 2.6 * (Math.log2(route.link.findings + 1) / Math.log2(widest + 1));
      return [on, svg('path', { class: on ? 'edge on' : 'edge', d: routePath(route), 'stroke-width': widest === 1 ? 1.5 : width })];
    });
    // What is chosen lies above.
    for (const [, line] of lines.sort(([a], [b]) => Number(a) - Number(b))) this.stage.append(line);
    for (const node of [...this.plan.nodes].sort((a, b) => b.distance - a.distance || a.y - b.y)) this.stage.append(this.node(node, nodesOn.has(node.number)));
  }

  node(node, on) {
    const title = fitted(nodeTitle(node), node, false, node.kind === 'call');
    const under = fitted(plain(this.underline(node)), node, true, node.kind !== 'call' && node.kind !== 'more');
    const act = () => this.act(node);
    const group = svg('g', {
      class: `node ${node.kind}${on ? ' on' : ''} ${this.group.severity}`,
      transform: `translate(${node.x} ${node.y})`,
      tabindex: '0', role: 'button', 'data-node': node.number,
      'aria-label': `${plain(node.name)}, ${plural(node.findings, 'finding')}`,
      on: { click: act, keydown: (event) => this.key(event, node, act) },
    });
    group.append(
      svg('title', {}, document.createTextNode(`${plain(node.name)}\n${plain(this.underline(node))}`)),
      svg('rect', { width: node.width, height: node.height, rx: 8 }),
      node.kind === 'entry' ? svg('path', { class: 'stripe', d: `M8 0H5.500V${node.height}H8A8 8 0 0 1 0 ${node.height - 8}V8A8 8 0 0 1 8 0Z` }) : document.createTextNode(''),
      svg('text', { class: 'name', x: 14, y: 18 }, document.createTextNode(title)),
      svg('text', { class: 'under', x: 14, y: 32 }, document.createTextNode(under)),
    );
    return group;
  }

  underline(node) {
    if (node.kind === 'more') return 'show all';
    if (node.kind === 'call') return ['blocks', holdText(this.group.hold) === null ? null : holdText(this.group.hold)].filter(Boolean).join(' · ');
    for (const [at, path] of this.group.graph.paths.entries()) {
      const step = path.indexOf(node.number);
      const finding = this.report.findings[this.group.findings[at]];
      if (step < 0 || !finding.trace[step]) continue;
      const place = placeText(this.report, finding.trace[step].at).replace(/:\d+$/, '').split('/').pop();
      return place;
    }
    return '';
  }

  act(node) {
    if (node.kind === 'more') {
      this.all = true;
      this.show(this.selected);
      return;
    }
    const { paths } = this.group.graph;
    // The chosen finding if it runs through here, else the first that does.
    const here = paths.findIndex((path) => path.includes(node.number));
    const chosen = this.selected !== undefined && paths[this.selected].includes(node.number) ? this.selected : here;
    if (chosen >= 0) this.choose(chosen, Math.max(0, paths[chosen].indexOf(node.number)));
  }

  key(event, node, act) {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      act();
      const again = this.stage.querySelector(`[data-node="${node.number}"]`);
      if (again) again.focus();
      return;
    }
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const [right, down] = step;
    const near = this.plan.nodes.filter((other) => other !== node && (right ? Math.sign(other.x - node.x) === right : other.x === node.x && Math.sign(other.y - node.y) === down));
    near.sort((a, b) => Math.hypot(a.x - node.x, a.y - node.y) - Math.hypot(b.x - node.x, b.y - node.y));
    if (near[0]) this.stage.querySelector(`[data-node="${near[0].number}"]`).focus();
  }

  /** Drawn for the room that there is now. */
  fit() {
    this.draw();
    this.fitScale();
  }

  /** As large as there is room for, but never too small to read: what is wider is scrolled, to the end of the path, which blocks. */
  fitScale() {
    this.scale = Math.max(LEAST_SCALE, Math.min(1, this.room / this.plan.width));
    this.apply();
    const path = (this.selected !== undefined && this.group.graph.paths[this.selected]) || [];
    const [first, last] = [path[0], path[path.length - 1]].map((number) => this.plan.nodes.find((node) => node.number === number));
    this.box.scrollLeft = this.box.scrollWidth;
    if (!first || !last) return;
    // Both ends of the path where there is room for both, else its end.
    const middle = (node) => (node.y + node.height / 2) * this.scale;
    const high = this.box.clientHeight - NODE.height;
    const between = (middle(first) + middle(last)) / 2;
    this.box.scrollTop = (Math.abs(middle(first) - middle(last)) <= high ? between : middle(last)) - this.box.clientHeight / 2;
  }

  zoom(by) {
    const { box } = this;
    const [x, y] = [(box.scrollLeft + box.clientWidth / 2) / this.scale, (box.scrollTop + box.clientHeight / 2) / this.scale];
    this.scale = Math.max(0.3, Math.min(2.5, this.scale * by));
    this.apply();
    box.scrollTo(x * this.scale - box.clientWidth / 2, y * this.scale - box.clientHeight / 2);
  }

  apply() {
    const { width, height } = this.plan;
    this.picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.picture.setAttribute('width', String(Math.round(width * this.scale)));
    this.picture.setAttribute('height', String(Math.round(height * this.scale)));
  }

  /** The ground is dragged as a map is. */
  drag() {
    const { box } = this;
    let from = null;
    box.addEventListener('pointerdown', (event) => {
      if (event.pointerType !== 'mouse' || event.button !== 0 || event.target.closest('.node')) return;
      from = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop };
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener('pointermove', (event) => {
      if (from) box.scrollTo(from.x - event.clientX, from.y - event.clientY);
    });
    for (const end of ['pointerup', 'pointercancel']) box.addEventListener(end, () => { from = null; });
    box.addEventListener('wheel', (event) => {
      // Without a key the page scrolls, as everywhere.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    }, { passive: false });
  }
}
