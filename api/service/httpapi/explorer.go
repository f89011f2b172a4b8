package httpapi

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/genesis"
)

// explorer serves {base}/explorer/{chain}/tx/{hash}: the decoded receipt of a transaction of an embedded chain, without a key (protocol §7).
// Everything on the page comes out of a template that escapes it.
type explorer struct {
	in     *genesis.Installation
	page   func() (*template.Template, error)
	events func() (decoder, error)
}

func newExplorer(in *genesis.Installation) *explorer {
	return &explorer{
		in:     in,
		page:   sync.OnceValues(func() (*template.Template, error) { return template.New("tx").Parse(pageHTML) }),
		events: sync.OnceValues(func() (decoder, error) { return newDecoder(in) }),
	}
}

var reHash = regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`)

// explorerPath splits a path below the base: /explorer/eip155:8453/tx/0x…
func explorerPath(path string) (chain, hash string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/explorer/")
	if !ok {
		return "", "", false
	}
	return cutTwo(rest, "/tx/")
}

func cutTwo(s, sep string) (before, after string, ok bool) {
	before, after, ok = strings.Cut(s, sep)
	return before, after, ok && before != "" && after != "" && !strings.Contains(after, "/")
}

// ExplorerPath is the path of a transaction's page below the base path.
func ExplorerPath(chain caip.Chain, tx common.Hash) string {
	return "/explorer/" + chain.String() + "/tx/" + tx.Hex()
}

// view is what the page shows; Missing is a sentence when there is no such transaction.
type view struct {
	Title, Missing      string
	Chain, Hash, Status string
	Block               uint64
	BlockHash, Time     string
	From, To            labelled
	GasUsed             uint64
	Success             bool
	Events              []event
}

// labelled is an address with the name of its pin, if it has one.
type labelled struct{ Address, Name string }

func (x *explorer) serve(w http.ResponseWriter, chainText, hashText string) {
	v, status := x.view(chainText, hashText)
	page, err := x.page()
	var out bytes.Buffer
	if err == nil {
		err = page.Execute(&out, v)
	}
	if err != nil {
		panic(fmt.Errorf("explorer page: %w", err)) // a fault of the template, answered and logged as one
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	head.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // the peer may be gone; there is nobody left to tell
}

func (x *explorer) view(chainText, hashText string) (view, int) {
	v := view{Title: "Transaction not found", Chain: chainText, Hash: hashText}
	id, err := caip.ParseChain(chainText)
	if err != nil || !reHash.MatchString(hashText) {
		v.Missing = "This is not the address of a transaction."
		return v, http.StatusNotFound
	}
	info, known := x.in.Catalog.Chain(id)
	ch, err := x.in.ChainOf(id)
	if err != nil || !known {
		v.Missing = "This network has no such chain."
		return v, http.StatusNotFound
	}
	v.Chain = info.Name + " (" + id.String() + ")"
	rc, found, err := ch.Receipt(common.HexToHash(hashText))
	switch {
	case err != nil:
		v.Missing = "The transaction could not be read."
		return v, http.StatusInternalServerError
	case !found:
		v.Missing = "There is no such transaction on this chain."
		return v, http.StatusNotFound
	}
	x.fill(&v, id, rc)
	return v, http.StatusOK
}

func (x *explorer) fill(v *view, id caip.Chain, rc chain.Receipt) {
	v.Title, v.Hash = "Transaction "+rc.TxHash.Hex(), rc.TxHash.Hex()
	v.Success, v.Status = rc.Success, "Failed"
	if rc.Success {
		v.Status = "Success"
	}
	v.Block, v.BlockHash, v.GasUsed = rc.Block, rc.BlockHash.Hex(), rc.GasUsed
	v.Time = time.Unix(int64(rc.Time), 0).UTC().Format("2006-01-02 15:04:05 UTC")
	v.From, v.To = x.label(rc.From), x.label(rc.To)
	d, err := x.events()
	if err != nil {
		panic(fmt.Errorf("explorer events: %w", err)) // the embedded interfaces are broken
	}
	for _, l := range rc.Logs {
		e := d.decode(id, l)
		e.At = x.label(l.Address)
		v.Events = append(v.Events, e)
	}
}

func (x *explorer) label(a common.Address) labelled {
	p := x.in.Network.Pins
	for _, known := range []struct {
		at   common.Address
		name string
	}{
		{p.EntryPoint, "entry point"}, {p.Paymaster, "paymaster"}, {p.Escrow, "escrow"}, {p.MetaFactory, "meta factory"}, {p.Factory, "factory"},
		{p.Operator, "operator"}, {p.Solver, "solver"}, {genesis.AddressOf(x.in.Faucet), "faucet"}, {genesis.AddressOf(x.in.Treasury), "treasury"},
	} {
		if known.at == a {
			return labelled{a.Hex(), known.name}
		}
	}
	return labelled{Address: a.Hex()}
}

const pageHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#1b1f24;background:#fff}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3em .8em .3em 0;border-bottom:1px solid #ddd}
th{width:10em;font-weight:600}.name{color:#57606a}.failed{color:#b42318}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}.name{color:#8b949e}.failed{color:#ff7b72}}
</style></head><body>
{{define "address"}}<code>{{.Address}}</code>{{if .Name}} <span class="name">{{.Name}}</span>{{end}}{{end}}
<h1>Transaction</h1>
{{if .Missing}}<p>{{.Missing}}</p><p><code>{{.Chain}}</code> <code>{{.Hash}}</code></p>{{else}}
<table>
<tr><th>Hash</th><td><code>{{.Hash}}</code></td></tr>
<tr><th>Chain</th><td>{{.Chain}}, embedded: play money</td></tr>
<tr><th>Status</th><td{{if not .Success}} class="failed"{{end}}>{{.Status}}</td></tr>
<tr><th>Block</th><td>{{.Block}} <code class="name">{{.BlockHash}}</code></td></tr>
<tr><th>Time</th><td>{{.Time}}</td></tr>
<tr><th>From</th><td>{{template "address" .From}}</td></tr>
<tr><th>To</th><td>{{template "address" .To}}</td></tr>
<tr><th>Gas used</th><td>{{.GasUsed}}</td></tr>
</table>
<h2>Events</h2>
{{range .Events}}<h3>{{.Name}}</h3><table><tr><th>Contract</th><td>{{template "address" .At}}</td></tr>
{{range .Args}}<tr><th>{{.Name}}</th><td><code>{{.Value}}</code></td></tr>{{end}}</table>
{{else}}<p>None.</p>{{end}}{{end}}
</body></html>
`
