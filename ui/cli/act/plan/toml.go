package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/text"
)

// Explain returns the comments beside the parts of a plan, so that people can read it; the zero value writes none.
// Call gets the index of a call, Amount an asset and base units.
type Explain struct {
	Call   func(i int) []string
	Amount func(asset, base string) string
}

// EncodeTOML writes the plan with its hash, for people to read: comments explain the figures. They are no part of the
// plan and not in the hash.
func (p Plan) EncodeTOML(x Explain) ([]byte, error) {
	hash, err := p.Hash()
	if err != nil {
		return nil, err
	}
	w := &writer{x: x}
	w.comment("A plan of Coffer: coffer apply FILE shows what it does and asks before it signs.")
	w.comment("After a change: coffer plan FILE --out FILE writes the new hash.")
	w.line("version = " + strconv.Itoa(Version))
	w.text("salt", p.Salt)
	w.text("note", p.Note)
	w.text("hash", hash)
	w.limits(p.Limits)
	w.intent(p)
	return []byte(w.b.String()), nil
}

// writer writes TOML of the few forms that a plan has.
type writer struct {
	b strings.Builder
	x Explain
}

func (w *writer) line(s string) { w.b.WriteString(s + "\n") }

func (w *writer) comment(s string) { w.line("# " + text.Clean(s, 2000)) }

func (w *writer) section(name string) { w.line("\n" + name) }

// quote writes a string of JSON, which is a basic string of TOML: every escape of the one is one of the other.
func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""`
	}
	return strings.ReplaceAll(string(b), "\x7f", `\u007f`)
}

func (w *writer) text(key, value string) {
	if value != "" {
		w.line(key + " = " + quote(value))
	}
}

func (w *writer) list(key string, values []string) {
	if len(values) == 0 {
		return
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = quote(v)
	}
	w.line(key + " = [" + strings.Join(parts, ", ") + "]")
}

func (w *writer) number(key string, v int64) {
	if v != 0 {
		w.line(key + " = " + strconv.FormatInt(v, 10))
	}
}

func (w *writer) limits(l Limits) {
	if l.none() {
		return
	}
	w.section("[limits]")
	w.comment("They narrow your policy and open nothing (docs/policy.md).")
	w.list("chains", l.Chains)
	w.list("recipients", l.Recipients)
	w.list("contracts", l.Contracts)
	w.text("max_spend_usd", l.MaxSpendUSD)
	w.number("max_cost_bps", l.MaxCostBps)
	w.number("max_slippage_bps", l.MaxSlippageBps)
	if l.NeverDelegate {
		w.line("never_delegate = true")
	}
}

func (w *writer) intent(p Plan) {
	d := p.Intent
	w.section("[intent]")
	w.line("version = " + strconv.Itoa(d.Version))
	w.text("kind", d.Kind)
	w.text("interface", d.Interface)
	w.text("network", d.Network)
	w.text("targetChain", d.TargetChain)
	w.text("fundWith", d.FundWith)
	w.number("slippageBps", int64(d.SlippageBps))
	w.text("validAfter", d.ValidAfter)
	w.text("validUntil", d.ValidUntil)
	for _, a := range d.Accounts {
		w.section("[[intent.accounts]]")
		w.text("type", a.Type)
		w.line("accountAddress = " + quote(a.AccountAddress))
		w.text("signerAddress", a.SignerAddress)
		w.text("sessionAddress", a.SessionAddress)
		w.text("adminAddress", a.AdminAddress)
		w.text("deploymentType", a.DeploymentType)
	}
	for i, c := range d.Calls {
		w.section("[[intent.calls]]")
		if w.x.Call != nil {
			for _, s := range w.x.Call(i) {
				w.comment(s)
			}
		}
		w.line("to = " + quote(c.To))
		w.text("value", c.Value)
		w.text("function", c.Function)
		w.text("data", c.Data)
		w.text("note", c.Note)
	}
	for _, t := range d.TokensRequired {
		w.section("[[intent.tokensRequired]]")
		w.amount(t.AssetType, t.Amount)
	}
	for _, a := range d.Allowances {
		w.section("[[intent.allowances]]")
		w.amount(a.AssetType, a.Amount)
		w.text("spender", a.Spender)
	}
	w.overrides(p)
	w.sides(p)
}

// amount writes an asset and how much of it.
func (w *writer) amount(asset, base string) {
	w.explain(asset, base)
	w.line("assetType = " + quote(asset))
	w.line("amount = " + quote(base))
}

func (w *writer) explain(asset, base string) {
	if w.x.Amount != nil {
		w.comment(w.x.Amount(asset, base))
	}
}

func (w *writer) overrides(p Plan) {
	for _, o := range p.Intent.Overrides {
		w.section("[[intent.overrides]]")
		w.line("address = " + quote(o.Address))
		w.text("balance", o.Balance)
		w.text("code", o.Code)
		if o.StateDiff == nil {
			continue
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(o.StateDiff)) {
			parts = append(parts, fmt.Sprintf("%s = %s", quote(k), quote(o.StateDiff[k])))
		}
		w.line("stateDiff = {" + strings.Join(parts, ", ") + "}")
	}
}

// sides writes the two sides of a swap or a transfer.
func (w *writer) sides(p Plan) {
	if y := p.Intent.Pay; y != nil {
		w.section("[intent.pay]")
		w.explain(y.Asset, y.Amount)
		w.line("asset = " + quote(y.Asset))
		w.line("amount = " + quote(y.Amount))
	}
	if r := p.Intent.Receive; r != nil {
		w.section("[intent.receive]")
		w.line("asset = " + quote(r.Asset))
		w.text("account", r.Account)
		if r.Minimum != "" {
			w.explain(r.Asset, r.Minimum)
			w.text("minimum", r.Minimum)
		}
	}
}
