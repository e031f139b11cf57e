extension TimelinePage {
    /// Draws the rows that are in view, and listens.
    static let drawing = """
        let due = false, ink = {}, width = 0, height = 0, label = 0;
        function redraw() { if (!due) { due = true; requestAnimationFrame(draw); } }
        function colours() {
          const s = getComputedStyle(document.documentElement);
          for (const n of ['back', 'text', 'faint', 'line', 'band', 'bar', 'queue', 'fail', 'select', 'soft']) ink[n] = s.getPropertyValue('--' + n).trim();
        }
        function resize() {
          width = list.clientWidth; height = list.clientHeight;
          label = Math.round(Math.min(380, Math.max(120, width * 0.34)));
          const scale = window.devicePixelRatio || 1;
          canvas.width = width * scale; canvas.height = height * scale;
          canvas.style.width = width + 'px'; canvas.style.height = height + 'px';
          pen.setTransform(scale, 0, 0, scale, 0, 0);
          choose();
        }
        const x = t => label + (t - from) / (to - from) * (width - label - 64);
        function hatch(p, left, top, w, h, colour, gap, back) {
          p.save(); p.beginPath(); p.rect(left, top, w, h); p.clip();
          if (back) { p.fillStyle = back; p.fillRect(left, top, w, h); }
          p.strokeStyle = colour; p.lineWidth = 1; p.beginPath();
          // Bars can be far wider than the window; only what shows is drawn.
          const first = Math.max(left, -20), last = Math.min(left + w, 6000);
          for (let i = first - h; i < last; i += gap) { p.moveTo(i, top + h); p.lineTo(i + h, top); }
          p.stroke(); p.restore();
          p.strokeStyle = colour; p.strokeRect(left + 0.5, top + 0.5, Math.max(0, w - 1), h - 1);
        }
        // One shape for each thing, so that no colour is needed: waits are hatched, backoffs dashed, failures filled with
        // dense strokes; of an attempt's phases, waiting for the response is a thin bar between thick ones.
        function attempt(p, a, place, top) {
          if (a.q !== undefined) { const l = place(a.q), r = place(a.s ?? a.e); hatch(p, l, top + 6, Math.max(2, r - l), 9, ink.queue, 5); }
          if (a.b !== undefined) {
            p.strokeStyle = ink.faint; p.setLineDash([2, 3]); p.beginPath();
            p.moveTo(place(a.e), top + 11); p.lineTo(place(a.e + a.b), top + 11); p.stroke(); p.setLineDash([]);
          }
          if (a.s === undefined) return;
          const l = place(a.s), r = Math.max(l + 2, place(a.e));
          if (a.o === 'failed') hatch(p, l, top + 4, r - l, 14, ink.fail, 3, ink.back);
          else if (a.o !== 'ok') { p.strokeStyle = ink.faint; p.strokeRect(l + 0.5, top + 4.5, r - l - 1, 13); }
          else if (!a.ph) { p.fillStyle = ink.bar; p.fillRect(l, top + 4, r - l, 14); }
          else { p.fillStyle = ink.soft; p.fillRect(l, top + 4, r - l, 14); }
          for (const [name, start, length] of a.ph || []) {
            const thin = name === 'wait', u = place(start), v = Math.max(u + 1, place(start + length));
            p.fillStyle = a.o === 'failed' ? ink.fail : ink.bar;
            if (name === 'connect' || name === 'TLS' || name === 'name look-up') { if (v - u > 2) hatch(p, u, top + 4, v - u, 14, p.fillStyle, 4); }
            else if (!thin) p.fillRect(u, top + 4, v - u, 14);
            else p.fillRect(u, top + 9, v - u, 4);
          }
        }
        // The middle of a path is left out, since paths differ in their ends.
        function clip(text, room, tail) {
          if (pen.measureText(text).width <= room) return text;
          const short = n => { const last = Math.floor(n * tail); return text.slice(0, n - last) + '…' + text.slice(text.length - last); };
          let low = 0, high = text.length - 1;
          while (low < high) { const mid = low + high + 1 >> 1; if (pen.measureText(short(mid)).width <= room) low = mid; else high = mid - 1; }
          return short(low);
        }
        function draw() {
          due = false;
          pen.fillStyle = ink.back; pen.fillRect(0, 0, width, height);
          pen.font = '12px system-ui, sans-serif'; pen.textBaseline = 'middle'; pen.lineWidth = 1;
          const first = Math.floor(list.scrollTop / ROW), shift = -(list.scrollTop % ROW) + AXIS;
          const count = Math.min(rows.length - first, Math.ceil(height / ROW) + 1);
          for (let i = 0; i < count; i++) {
            const row = rows[first + i], top = shift + i * ROW;
            if (row === chosen) { pen.fillStyle = ink.select; pen.fillRect(0, top, width, ROW); }
            else if (row.k !== 'call') { pen.fillStyle = ink.band; pen.fillRect(0, top, width, ROW); }
          }
          ticks();
          pen.save(); pen.beginPath(); pen.rect(label, AXIS, width - label, height); pen.clip();
          for (let i = 0; i < count; i++) {
            const row = rows[first + i], top = shift + i * ROW;
            if (row.k !== 'call') {
              const l = x(row.s), r = x(row.e ?? D.span);
              pen.strokeStyle = row.x && !row.c ? ink.fail : ink.faint; pen.beginPath();
              pen.moveTo(l, top + 15); pen.lineTo(l, top + 11); pen.lineTo(r, top + 11); pen.lineTo(r, top + 15); pen.stroke();
              continue;
            }
            let end = 0;
            for (const a of row.a) { attempt(pen, a, x, top); end = Math.max(end, x(a.e)); }
            const word = row.a[row.a.length - 1].w + (row.a.length > 1 ? ' ×' + row.a.length : '');
            pen.fillStyle = row.a[row.a.length - 1].o === 'failed' ? ink.fail : ink.faint;
            const room = width - 4 - pen.measureText(word).width, at = Math.max(label + 4, Math.min(end + 5, room));
            if (at < end) { const colour = pen.fillStyle; pen.fillStyle = row === chosen ? ink.select : ink.back; pen.fillRect(at - 3, top + 3, width, 16); pen.fillStyle = colour; }
            pen.fillText(word, at, top + 11);
          }
          pen.restore();
          for (let i = 0; i < count; i++) {
            const row = rows[first + i], top = shift + i * ROW;
            let name, indent = 8;
            if (row.k === 'run' || row.k === 'group') {
              const bad = row.bad ? ', ✗ ' + row.bad.toLocaleString('en') : '';
              name = (closed.has(row) ? '▸ ' : '▾ ') + row.n + ' · ' + row.count.toLocaleString('en') + bad + (row.c ? ' · cancelled' : row.x ? ' · ✗ ' + row.x : '');
              indent = row.k === 'run' ? 8 : 20;
            } else { name = (row.undo ? '↶ ' : '') + (row.p ? row.p + ' ' : '') + row.m + ' ' + path(row.u); indent = row.group ? 34 : 22; }
            pen.fillStyle = ink.text; pen.font = (row.k === 'run' ? '600 ' : '') + '12px system-ui, sans-serif';
            pen.fillText(clip(name, label - indent - 6, row.k === 'call' ? 0.4 : 0), indent, top + 11);
          }
          pen.font = '12px system-ui, sans-serif';
          if (!rows.length) { pen.fillStyle = ink.faint; pen.fillText('Nothing to show.', 12, AXIS + 20); }
          pen.fillStyle = ink.back; pen.fillRect(0, 0, width, AXIS); ticks(true);
          pen.strokeStyle = ink.line; pen.beginPath(); pen.moveTo(label + 0.5, 0); pen.lineTo(label + 0.5, height);
          pen.moveTo(0, AXIS - 0.5); pen.lineTo(width, AXIS - 0.5); pen.stroke();
          if (!performance.getEntriesByName('painted').length) performance.mark('painted');
        }
        function ticks(named) {
          const raw = (to - from) / Math.max(1, (width - label - 64) / 100), power = 10 ** Math.floor(Math.log10(raw));
          const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= raw);
          pen.strokeStyle = ink.line; pen.fillStyle = ink.faint;
          for (let t = Math.ceil(from / step) * step; t <= to + step / 1e6; t += step) {
            const at = Math.round(x(t)) + 0.5;
            if (named) pen.fillText(time(+t.toPrecision(12)), at + 3, AXIS / 2);
            else { pen.beginPath(); pen.moveTo(at, AXIS); pen.lineTo(at, height); pen.stroke(); }
          }
          if (named) for (const [t, text] of D.marks) { const at = x(t); if (at >= label && at < width) { pen.fillStyle = ink.fail; pen.fillText('▼', at - 5, AXIS - 6); } }
        }
        function look(a, b) {
          const size = Math.min(D.span, Math.max(b - a, 0.0005));
          from = Math.max(0, Math.min(a, D.span - size)); to = from + size; redraw();
        }
        function zoom(by, at) { const mid = at ?? (from + to) / 2; look(mid - (mid - from) * by, mid + (to - mid) * by); }
        const when = px => from + (px - label) / (width - label - 64) * (to - from);
        // The time of the rows that are in view.
        $('rows').onclick = () => {
          const first = Math.floor(list.scrollTop / ROW);
          const seen = rows.slice(first, first + Math.floor((height - AXIS) / ROW)).filter(r => r.k === 'call').flatMap(r => r.a);
          if (!seen.length) return;
          const a = Math.min(...seen.map(s => s.q ?? s.s ?? s.e)), b = Math.max(...seen.map(s => s.e + (s.b || 0)));
          look(a - (b - a) * 0.02, b + (b - a) * 0.02);
        };
        $('in').onclick = () => zoom(0.5); $('out').onclick = () => zoom(2); $('fit').onclick = () => look(0, D.span);
        $('search').oninput = e => { query = e.target.value; choose(); };
        $('failed').onchange = e => { onlyFailed = e.target.checked; choose(); };
        list.addEventListener('scroll', redraw, { passive: true });
        list.addEventListener('wheel', e => {
          if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(Math.exp(e.deltaY * 0.005), when(Math.max(label, e.offsetX))); }
          else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) {
            e.preventDefault(); const d = (e.deltaX || e.deltaY) / (width - label) * (to - from); look(from + d, to + d); }
        }, { passive: false });
        let drag = null;
        canvas.onpointerdown = e => { drag = { x: e.offsetX, y: e.offsetY, from, to, moved: false }; canvas.setPointerCapture(e.pointerId); };
        canvas.onpointermove = e => {
          if (!drag) return;
          const d = e.offsetX - drag.x;
          if (Math.abs(d) > 4) drag.moved = true;
          if (drag.moved && drag.x > label) { const t = d / (width - label - 64) * (drag.to - drag.from); look(drag.from - t, drag.to - t); }
        };
        canvas.onpointercancel = () => { drag = null; };
        canvas.onpointerup = e => {
          const moved = drag && drag.moved; drag = null;
          if (moved || e.offsetY < AXIS) return;
          const row = rows[Math.floor((e.offsetY - AXIS + list.scrollTop) / ROW)];
          if (row && row.k !== 'call' && (row === chosen || e.offsetX < 36)) toggle(row);
          pick(row || null);
        };
        function toggle(row) { if (closed.has(row)) closed.delete(row); else closed.add(row); choose(); }
        list.onkeydown = e => {
          const at = rows.indexOf(chosen), page = Math.max(1, Math.floor(height / ROW) - 2);
          const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
          if (e.key in steps && rows.length) {
            const next = Math.max(0, Math.min(rows.length - 1, (at < 0 ? -1 : at) + steps[e.key]));
            const top = next * ROW, room = height - AXIS - ROW;
            if (top < list.scrollTop) list.scrollTop = top; else if (top > list.scrollTop + room) list.scrollTop = top - room;
            pick(rows[next]);
          } else if (e.key === 'Enter' && chosen && chosen.k !== 'call') toggle(chosen);
          else if (e.key === '+' || e.key === '=') zoom(0.5); else if (e.key === '-') zoom(2); else if (e.key === '0') look(0, D.span);
          else if (e.key === 'ArrowLeft') look(from - (to - from) / 5, to - (to - from) / 5);
          else if (e.key === 'ArrowRight') look(from + (to - from) / 5, to + (to - from) / 5);
          else return;
          e.preventDefault();
        };
        function legend() {
          const box = document.querySelector('.legend'); box.textContent = '';
          const kinds = [['waits for a slot', { q: 0, e: 30 }], ['under way', { s: 0, e: 30, o: 'ok' }],
            ['connects, then sends, waits and receives', { s: 0, e: 40, o: 'ok', ph: [['connect', 0, 12], ['send', 12, 6], ['wait', 18, 14], ['receive', 32, 8]] }],
            ['failed', { s: 0, e: 30, o: 'failed' }], ['cancelled or not over', { s: 0, e: 30, o: 'open' }], ['waits to be sent again', { e: 0, b: 30 }]];
          for (const [name, a] of kinds) {
            const span = box.appendChild(document.createElement('span')), mini = span.appendChild(document.createElement('canvas'));
            const scale = window.devicePixelRatio || 1; const wide = a.ph ? 42 : 32; mini.width = wide * scale; mini.height = 18 * scale; mini.style.width = wide + 'px'; mini.style.height = '18px';
            const p = mini.getContext('2d'); p.scale(scale, scale); attempt(p, a, t => t, -2); span.append(name);
          }
        }
        function theme() { colours(); legend(); redraw(); }
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', theme);
        new ResizeObserver(resize).observe(list);
        theme(); resize();
        """
}
