package httpapi

import (
	"bytes"
	"html"
	"strings"
)

// view is what the page shows; Missing is a sentence when there is no such transaction. Facts differ between EVM chains
// and Solana.
type view struct {
	Title, Missing string
	Chain, Hash    string
	Success        bool
	Facts          []fact
	EventsTitle    string // events of an EVM transaction, instructions of a Solana one
	Events         []event
	Changes        []change // Solana
	Logs           []string // Solana
}

// fact is one line of the first table; At is an address, Value anything else.
type fact struct {
	Name, Value string
	Code        bool
	At          *labelled
}

// labelled is an address with the name of its pin, if it has one.
type labelled struct{ Address, Name string }

// markup is HTML without text from outside. Only a constant becomes one without being converted, so a text cannot get
// into the page past put.
type markup string

// page is HTML that is being written. The program has no template package: one alone makes the linker keep every
// exported method of every linked type, six megabytes of them.
type page struct{ out bytes.Buffer }

// put writes markup and, escaped, a text at each $ in it. That is safe between tags and in quotes, but not as the
// target of a link: the page has none.
func (p *page) put(m markup, texts ...string) {
	rest := string(m)
	for _, t := range texts {
		before, after, _ := strings.Cut(rest, "$")
		p.out.WriteString(before + html.EscapeString(t))
		rest = after
	}
	p.out.WriteString(rest)
}

func (p *page) address(a labelled) {
	p.put("<code>$</code>", a.Address)
	p.name(a.Name)
}

// name is what an address is known as, if it is.
func (p *page) name(s string) {
	if s != "" {
		p.put(` <span class="name">$</span>`, s)
	}
}

// page writes the view as HTML.
func (v view) page() []byte {
	var p page
	p.put(pageHead, v.Title)
	if v.Missing != "" {
		p.put("<p>$</p><p><code>$</code> <code>$</code></p>", v.Missing, v.Chain, v.Hash)
	} else {
		p.facts(v)
		p.events(v)
		p.changes(v.Changes)
		if len(v.Logs) > 0 {
			p.put("<h2>Log</h2><pre>$</pre>\n", strings.Join(v.Logs, "\n"))
		}
	}
	p.put("</body></html>\n")
	return p.out.Bytes()
}

func (p *page) facts(v view) {
	status := markup("<td>Success</td>")
	if !v.Success {
		status = `<td class="failed">Failed</td>`
	}
	p.put("<table>\n<tr><th>Hash</th><td><code>$</code></td></tr>\n", v.Hash)
	p.put("<tr><th>Chain</th><td>$, embedded: play money</td></tr>\n<tr><th>Status</th>"+status+"</tr>\n", v.Chain)
	for _, f := range v.Facts {
		p.put("<tr><th>$</th><td>", f.Name)
		switch {
		case f.At != nil:
			p.address(*f.At)
		case f.Code:
			p.put("<code>$</code>", f.Value)
		default:
			p.put("$", f.Value)
		}
		p.put("</td></tr>\n")
	}
	p.put("</table>\n")
}

func (p *page) events(v view) {
	p.put("<h2>$</h2>\n", v.EventsTitle)
	for _, e := range v.Events {
		p.put("<h3>$</h3><table><tr><th>$</th><td>", e.Name, e.Where)
		p.address(e.At)
		p.put("</td></tr>\n")
		for _, a := range e.Args {
			p.put("<tr><th>$</th><td><code>$</code>", a.Name, a.Value)
			p.name(a.Label)
			p.put("</td></tr>\n")
		}
		p.put("</table>\n")
	}
	if len(v.Events) == 0 {
		p.put("<p>None.</p>\n")
	}
}

func (p *page) changes(list []change) {
	if len(list) == 0 {
		return
	}
	p.put("<h2>Balance changes</h2>\n<table><tr><th>Owner</th><th>Before</th><th>After</th><th>Change</th></tr>\n")
	for _, c := range list {
		p.put("<tr><td>")
		p.address(c.Owner)
		p.put("</td><td>$</td><td>$</td><td>$</td></tr>\n", c.Before, c.After, c.By)
	}
	p.put("</table>\n")
}

const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>$</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1b1f24;background:#fff}
code,pre{font:13px ui-monospace,monospace;overflow-wrap:anywhere;white-space:pre-wrap}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3em .8em .3em 0;border-bottom:1px solid #ddd}
th{width:10em;font-weight:600}.name{color:#57606a}.failed{color:#b42318}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}
th,td{border-color:#30363d}.name{color:#8b949e}.failed{color:#ff7b72}}
</style></head><body>
<h1>Transaction</h1>
`
