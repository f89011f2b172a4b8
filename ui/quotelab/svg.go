package quotelab

import (
	"fmt"
	"html"
	"math/big"
	"strings"

	"coffer/ui/present"
)

// The measures of the picture, in pixels.
const (
	svgWidth  = 860
	svgLine   = 24
	svgBarX   = 310
	svgBarW   = 200
	svgCurveH = 120
)

const svgStyle = `<style>
text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}
.dim{fill:#59636e}.head{font-weight:bold}.end{text-anchor:end}
.page{fill:#fff}.Leaves{fill:#0969da}.Escrow{fill:#818b98}.Arrives{fill:#1a7f37}.Cost{fill:#9a6700}
.curve{fill:none;stroke:#0969da;stroke-width:2}.dot{fill:#0969da}.axis{stroke:#d1d9e0}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.dim{fill:#9198a1}.page{fill:#0d1117}
.Leaves{fill:#4493f8}.Escrow{fill:#9198a1}.Arrives{fill:#3fb950}.Cost{fill:#d29922}
.curve{stroke:#4493f8}.dot{fill:#4493f8}.axis{stroke:#3d444d}}
</style>
`

// svg is a picture that grows downwards.
type svg struct {
	strings.Builder
	y int
}

// SVG is a picture of the route and of the curve of the report's variant, for light and dark pages. Its text stays
// text, and its description says what it shows.
func (r Report) SVG() []byte {
	var p svg
	p.y = 30
	p.text(16, "head", r.Question)
	p.y += svgLine
	p.text(16, "dim", "quotes compared, nothing signed, "+stamp(r.At))
	p.y += svgLine
	if r.Curved < len(r.Variants) {
		own := r.Variants[r.Curved]
		p.route(own)
		if len(r.Points) > 0 {
			p.curve(r.Points, own.Answer.Estimate)
		}
	}
	p.y += 12
	var head strings.Builder
	fmt.Fprintf(&head, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" `+
		"aria-labelledby=\"title desc\">\n<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n%s"+
		"<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", svgWidth, p.y, svgWidth, p.y, escaped(r.Question),
		escaped(strings.Join(strings.Fields(strings.Join(r.Said(), " ")), " ")), svgStyle, svgWidth, p.y)
	return []byte(head.String() + p.String() + "</svg>\n")
}

// escaped writes foreign text into the picture.
func escaped(s string) string { return html.EscapeString(present.Clean(s, max(1, len(s)))) }

func (p *svg) text(x int, class, s string) {
	fmt.Fprintf(p, "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, p.y, class, escaped(s))
}

// route draws a bar for each lane, all to one scale.
func (p *svg) route(c Compared) {
	lanes := Route(c.Answer)
	top := Longest(lanes)
	p.y += 12
	p.text(16, "head", "Route, paid with "+c.Fund)
	if len(lanes) == 0 {
		p.y += svgLine
		_, outcome := c.Answer.Outcome()
		p.text(16, "dim", "no route: "+outcome)
	}
	for _, l := range lanes {
		p.y += svgLine
		p.text(16, "dim", string(l.Stage))
		p.text(90, "", l.Name)
		if w := scaled(l.Micro, top, svgBarW); w > 0 {
			fmt.Fprintf(p, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"14\" rx=\"2\"/>\n", l.Stage,
				svgBarX,
				p.y-12, w)
		}
		p.text(740, "end", l.Text())
		p.text(844, "end", c.Answer.about(present.USD(l.Micro)))
	}
	p.y += svgLine
}

// scaled is v of top as a part of n, at least 1 for anything above zero; 0 when it is unknown.
func scaled(v, top *big.Int, n int64) int64 {
	if v == nil || top == nil || v.Sign() <= 0 || top.Sign() <= 0 {
		return 0
	}
	part := new(big.Int).Mul(v, big.NewInt(n))
	return max(1, part.Quo(part, top).Int64())
}

// curve draws the cost over the amount, its points at even steps.
func (p *svg) curve(points []Point, estimate bool) {
	values := CostsOver(points)
	lo, hi := present.Bounds(values)
	p.y += 12
	p.text(16, "head", "Cost over amount, as a share of what is paid")
	top := p.y + 16
	p.y = top + svgCurveH
	fmt.Fprintf(p, "<path class=\"axis\" d=\"M70 %dV%dH844\"/>\n", top, p.y)
	step := (780 - 120) / max(1, len(points)-1)
	var line strings.Builder
	draw := "M"
	for i, point := range points {
		x := 120 + i*step
		y := p.y
		label := Answer{Estimate: estimate}.about(ShareText(values[i]))
		if values[i] != nil {
			span := new(big.Int).Sub(hi, lo)
			y -= 8 + int(scaled(new(big.Int).Sub(values[i], lo), span, svgCurveH-30))
			fmt.Fprintf(&line, "%s%d %d", draw, x, y)
			fmt.Fprintf(p, "<circle class=\"dot\" cx=\"%d\" cy=\"%d\" r=\"3\"/>\n", x, y)
			draw = "L"
		} else {
			draw = "M"
			if point.Asked && !point.Answer.Figures() {
				_, label = point.Answer.Outcome()
			}
		}
		at := p.y
		p.y = y - 8
		if len(label) > 10 { // the words of a refusal end at the right edge of their point
			p.text(x+64, "end", label)
		} else {
			p.text(x-24, "", label)
		}
		p.y = at + 18
		p.text(x-24, "dim", point.Of.Figure())
		p.y = at
	}
	if line.Len() > 0 {
		fmt.Fprintf(p, "<path class=\"curve\" d=\"%s\"/>\n", line.String())
	}
	p.y += 36
	p.text(16, "dim", points[0].Of.Symbol)
}
