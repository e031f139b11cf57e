/// The parts of the timeline's page that are the same for every timeline.
enum TimelinePage {
    static let style = """
        :root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --faint: #59636e; --line: #d5dae0;
          --band: #f3f5f8; --bar: #2f6fb3; --queue: #8a6d1a; --fail: #b3261e; --select: #dbe8f7; --soft: #9cc0e6; }
        @media (prefers-color-scheme: dark) { :root { --back: #14171a; --text: #e8eaed; --faint: #a3abb5;
          --line: #363c43; --band: #1d2126; --bar: #6aa5e3; --queue: #d6b656; --fail: #ff8a80; --select: #22364d;
          --soft: #345b85; } }
        * { box-sizing: border-box; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--back); color: var(--text);
          font: 14px/1.4 system-ui, sans-serif; }
        header { padding: 8px 12px; border-bottom: 1px solid var(--line); }
        h1 { font-size: 16px; margin: 0 0 6px; }
        .controls { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; }
        .controls input[type=search] { flex: 1 1 180px; max-width: 340px; min-width: 0; }
        input, button { font: inherit; color: inherit; background: var(--band); border: 1px solid var(--line);
          border-radius: 4px; padding: 3px 8px; }
        button { min-width: 30px; cursor: pointer; }
        #summary, .legend { color: var(--faint); font-size: 12px; }
        .legend span { margin-right: 12px; white-space: nowrap; }
        .legend canvas { vertical-align: -4px; margin-right: 4px; }
        #list { flex: 1 1 auto; min-height: 80px; overflow-y: scroll; overflow-x: hidden; position: relative; outline-offset: -2px; }
        #canvas { position: sticky; top: 0; display: block; touch-action: pan-y; }
        #details { flex: 0 0 auto; max-height: 38%; overflow: auto; border-top: 1px solid var(--line);
          padding: 8px 12px; background: var(--band); }
        #details p { margin: 0; }
        #details table { border-collapse: collapse; margin-top: 4px; }
        #details td, #details th { text-align: left; vertical-align: top; padding: 1px 14px 1px 0;
          font-weight: normal; overflow-wrap: anywhere; }
        #details th { color: var(--faint); white-space: nowrap; }
        .url { overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
        """

    static let controls = """
        <div class="controls">
        <input type="search" id="search" placeholder="Search method, URL, place, error" aria-label="Search">
        <label><input type="checkbox" id="failed"> Failures only</label>
        <span><button id="out" aria-label="Zoom out">−</button> <button id="in" aria-label="Zoom in">+</button>
        <button id="fit">All</button> <button id="rows">Rows in view</button></span>
        <span id="summary" role="status"></span>
        </div>
        <div class="legend" aria-hidden="true"></div>
        """

    static let main = """
        <div id="list" tabindex="0" role="application" aria-label="Waterfall of requests. Up and down select a row, Enter opens or closes a run or batch, plus and minus zoom, left and right move." aria-describedby="details"><canvas id="canvas"></canvas><div id="space"></div></div>
        <div id="details" aria-live="polite"><p>Select a row. Scroll moves through the rows; drag moves and Ctrl with scroll zooms the time.</p></div>
        <noscript><p>This page draws with a script of its own.</p></noscript>
        """

    /// Which rows there are, what is chosen, and what is said of it.
    static let rows = """
        'use strict';
        const D = JSON.parse(document.getElementById('data').textContent);
        const $ = id => document.getElementById(id);
        const list = $('list'), canvas = $('canvas'), space = $('space'), pen = canvas.getContext('2d');
        const ROW = 22, AXIS = 26;
        let rows = [], closed = new Set(), query = '', onlyFailed = false, chosen = null, from = 0, to = D.span;

        function time(ms) {
          const n = Math.abs(ms);
          if (n >= 1000) return +(ms / 1000).toFixed(2) + '\\u00a0s';
          return n >= 1 || n === 0 ? +ms.toFixed(1) + '\\u00a0ms' : +(ms * 1000).toFixed(0) + '\\u00a0µs';
        }
        function path(url) {
          const m = /^[a-z]+:\\/\\/[^\\/?]*([^?]*)/i.exec(url);
          return m ? m[1] || '/' : url;
        }
        // What rows need to know of each other, once.
        let run = null, group = null, calls = 0, failures = 0, attempts = 0;
        for (const row of D.rows) {
          if (row.k === 'run') { run = row; group = null; run.count = run.bad = 0; }
          else if (row.k === 'group') { group = row; group.count = group.bad = 0; group.s = Infinity; group.e = 0; }
          else if (row.k === 'end') group = null;
          else {
            row.run = run; row.group = group;
            row.bad = row.a.some(a => a.o === 'failed');
            calls++; attempts += row.a.length;
            if (row.bad) failures++;
            for (const box of [run, group]) if (box) { box.count++; if (row.bad) box.bad++; }
            if (group) for (const a of row.a) { group.s = Math.min(group.s, a.q ?? a.s ?? a.e); group.e = Math.max(group.e, a.e); }
          }
        }
        // What a search looks at, made when there is one.
        function text(row) {
          return row.text ??= [row.run.n, row.group ? row.group.n : '', row.p, row.m, row.u,
            ...row.a.map(a => a.w + ' ' + (a.x || ''))].join(' ').toLowerCase();
        }
        function choose() {
          const words = query.toLowerCase().split(/\\s+/).filter(Boolean), all = !words.length && !onlyFailed;
          let waiting = [];
          rows = [];
          let run = null, found = 0;
          for (const row of D.rows) {
            if (row.k === 'end') { waiting = waiting.filter(w => w.k === 'run'); continue; }
            if (row.k === 'run') { run = row; waiting = []; if (all) rows.push(row); else waiting.push(row); continue; }
            if (row.k === 'group') {
              if (!all) waiting.push(row); else if (!closed.has(run)) rows.push(row);
              continue;
            }
            if (onlyFailed && !row.bad || !words.every(w => text(row).includes(w))) continue;
            found++;
            if (all && (closed.has(row.run) || row.group && closed.has(row.group))) continue;
            rows.push(...waiting, row); waiting = [];
          }
          if (chosen && !rows.includes(chosen)) pick(null);
          space.style.height = Math.max(0, rows.length * ROW + AXIS - list.clientHeight) + 'px';
          const plural = (n, word) => n.toLocaleString('en') + ' ' + word + (n === 1 ? '' : 's');
          $('summary').textContent = (all ? plural(calls, 'request') : found.toLocaleString('en') + ' of ' + plural(calls, 'request'))
            + ', ' + plural(attempts, 'attempt') + ', ' + failures.toLocaleString('en') + ' with failures, ' + time(D.span)
            + (D.omitted ? '; ' + plural(D.omitted, 'older attempt') + ' dropped' : '');
          redraw();
        }
        function pick(row) {
          chosen = row;
          const box = $('details');
          box.textContent = '';
          const add = (parent, tag, text, name) => { const e = parent.appendChild(document.createElement(tag));
            if (text !== undefined) e.textContent = text; if (name) e.className = name; return e; };
          if (!row) { add(box, 'p', 'Nothing is selected.'); return redraw(); }
          if (row.k === 'run') add(box, 'p', row.n + ': ' + row.count + ' requests, ' + row.bad + ' with failures, '
            + (row.e === undefined ? 'not over' : time(row.e - row.s)) + (row.x ? '. ' + row.x : ''));
          else if (row.k === 'group') add(box, 'p', row.n + ': ' + row.count + ' requests, ' + row.bad + ' with failures');
          else {
            add(box, 'p', row.m + ' ' + row.u, 'url');
            add(box, 'p', [row.run.n, (row.group ? row.group.n : '') + row.p, row.undo ? 'undoes what was done' : ''].filter(Boolean).join(', '));
            const table = add(box, 'table');
            for (const a of row.a) {
              const line = (name, value) => { const r = add(table, 'tr'); add(r, 'th', name); add(r, 'td', value); };
              line('attempt ' + a.n, a.w + (a.o === 'ok' ? '' : ', ' + a.o) + (a.s === undefined ? ', never sent' : ', at ' + time(a.s) + ' for ' + time(a.e - a.s)));
              if (a.q !== undefined) line('wait for a slot', time((a.s ?? a.e) - a.q));
              for (const p of a.ph || []) line(p[0], time(p[2]));
              for (const f of a.f || []) line(f[0], f[1]);
              if (a.x) line('error', a.x);
              if (a.b !== undefined) line('sent again after', time(a.b));
            }
          }
          redraw();
        }
        """
}
