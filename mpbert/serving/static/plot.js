// Dots on a canvas that can be moved and zoomed.

const MARGIN = 0.9; // part of the canvas that the dots fill when all are seen
const MAX_ZOOM = 200;
const FEW = 3000; // so many dots are drawn as circles, more as squares, which are faster

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export class Plot {
  // points: {x, y, shade, titles}, one entry per dot each; the colour of shade i is --shade-i
  constructor(canvas, points) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.points = points;
    this.shades = Math.max(...points.shade) + 1;
    this.rings = []; // {rows, style, radius}
    this.topics = []; // {words, x, y}
    this.labelled = -1;
    this.bounds = [points.x, points.y].map((values) => {
      const least = values.reduce((a, b) => Math.min(a, b), Infinity);
      const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
      return { middle: (least + most) / 2, length: Math.max(most - least, 1e-6) };
    });
    this.showAll();
  }

  // Pixels per unit of the positions, when all dots are seen.
  get unit() {
    const [x, y] = this.bounds;
    return MARGIN * Math.min(this.canvas.clientWidth / x.length, this.canvas.clientHeight / y.length);
  }

  get middle() {
    return [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2];
  }

  showAll() {
    this.view = { x: this.bounds[0].middle, y: this.bounds[1].middle, zoom: 1 };
    this.fit();
  }

  centre(row, leastZoom) {
    this.centreAt(this.points.x[row], this.points.y[row], leastZoom);
  }

  centreAt(x, y, leastZoom) {
    this.view = { x, y, zoom: Math.max(this.view.zoom, leastZoom) };
    this.draw();
  }

  // The dots keep their size in pixels; what is at (x, y) stays there.
  zoomBy(factor, [x, y] = this.middle) {
    const [middleX, middleY] = this.middle;
    const zoom = Math.min(MAX_ZOOM, Math.max(0.5, this.view.zoom * factor));
    const change = (1 / this.view.zoom - 1 / zoom) / this.unit;
    this.view.x += (x - middleX) * change;
    this.view.y -= (y - middleY) * change;
    this.view.zoom = zoom;
    this.draw();
  }

  moveBy(x, y) {
    const scale = this.unit * this.view.zoom;
    this.view.x -= x / scale;
    this.view.y += y / scale;
    this.draw();
  }

  toPixels(row) {
    return this.placeOf(this.points.x[row], this.points.y[row]);
  }

  placeOf(x, y) {
    const scale = this.unit * this.view.zoom;
    const [middleX, middleY] = this.middle;
    return [
      middleX + (x - this.view.x) * scale,
      middleY - (y - this.view.y) * scale,
    ];
  }

  // The dot nearest to a place, at most reach pixels away; -1 if there is none.
  nearest([x, y], reach) {
    const scale = this.unit * this.view.zoom;
    const [middleX, middleY] = this.middle;
    const [mapX, mapY] = [this.view.x + (x - middleX) / scale, this.view.y - (y - middleY) / scale];
    let best = -1;
    let least = (reach / scale) ** 2;
    for (let row = 0; row < this.points.x.length; row++) {
      const distance = (this.points.x[row] - mapX) ** 2 + (this.points.y[row] - mapY) ** 2;
      if (distance < least) [best, least] = [row, distance];
    }
    return best;
  }

  // To be called when the canvas has another size.
  fit() {
    const density = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * density);
    this.canvas.height = Math.round(this.canvas.clientHeight * density);
    this.pen.setTransform(density, 0, 0, density, 0, 0);
    this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const { shade } = this.points;
    const isFew = shade.length <= FEW;
    const size = Math.min(10, (isFew ? 5 : 2) * this.view.zoom ** 0.25);
    this.pen.clearRect(0, 0, width, height);
    for (let number = 0; number < this.shades; number++) {
      this.pen.fillStyle = colour(`--shade-${number}`);
      for (let row = 0; row < shade.length; row++) {
        if (shade[row] !== number) continue;
        const [x, y] = this.toPixels(row);
        if (x < -size || y < -size || x > width + size || y > height + size) continue;
        if (isFew) this.circle(x, y, size / 2).fill();
        else this.pen.fillRect(x - size / 2, y - size / 2, size, size);
      }
    }
    for (const { rows, style, radius } of this.rings) {
      this.pen.strokeStyle = colour(style);
      this.pen.lineWidth = 2;
      for (const row of rows) this.circle(...this.toPixels(row), radius).stroke();
    }
    this.drawTopics();
    if (this.labelled >= 0) this.drawLabel(this.labelled);
  }

  // Words of the regions, largest first; one that would cover another is left out.
  drawTopics() {
    const taken = [];
    for (const { words, x, y } of this.topics) {
      const [left, top] = this.placeOf(x, y);
      const name = words.join(", ");
      this.pen.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
      const width = this.pen.measureText(name).width;
      const box = [left - width / 2, top - 8, left + width / 2, top + 8];
      const isOut = box[0] < 0 || box[1] < 0 || box[2] > this.canvas.clientWidth || box[3] > this.canvas.clientHeight;
      const covers = ([a, b, c, d]) => box[0] < c && a < box[2] && box[1] < d && b < box[3];
      if (isOut || taken.some(covers)) continue;
      taken.push(box);
      this.write(name, box[0], top + 4);
    }
  }

  // Text with a rim, so that it can be read above dots.
  write(string, left, base) {
    this.pen.lineWidth = 4;
    this.pen.lineJoin = "round";
    this.pen.strokeStyle = colour("--paper");
    this.pen.strokeText(string, left, base);
    this.pen.fillStyle = colour("--text");
    this.pen.fillText(string, left, base);
  }

  circle(x, y, radius) {
    this.pen.beginPath();
    this.pen.arc(x, y, radius, 0, 2 * Math.PI);
    return this.pen;
  }

  drawLabel(row) {
    const title = this.points.titles[row];
    const short = title.length > 60 ? `${title.slice(0, 57)}…` : title;
    const [x, y] = this.toPixels(row);
    this.pen.strokeStyle = colour("--text");
    this.pen.lineWidth = 2;
    this.circle(x, y, 12).stroke();
    this.pen.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
    const width = this.pen.measureText(short).width;
    const left = Math.max(4, Math.min(x - width / 2, this.canvas.clientWidth - width - 4));
    this.write(short, left, y - 18);
  }
}
