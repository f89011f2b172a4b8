package present

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// fewestPayouts is from how many on payments are one row each, instead of both sides of each call.
const fewestPayouts = 3

// payouts says which calls of the operation are rows of the list of payments: those that do nothing but pay, byte for
// byte as asked, where there are several. All others stay pairs.
func (r Review) payouts() []bool {
	out, asked, n := make([]bool, len(r.Call.Lines)), make([]bool, len(r.Intent.Calls)), 0
	for i, l := range r.Call.Lines {
		at := l.Asked - 1
		if l.Role != verify.RoleCall || at < 0 || at >= len(asked) || asked[at] || !l.AsAsked ||
			!consent.SameCall(r.Intent.Calls[at], l) || !pays(l) {
			continue
		}
		out[i], asked[at] = true, true
		n++
	}
	if n < fewestPayouts {
		clear(out)
	}
	return out
}

// pays reports a transfer of a known token, or a plain payment in the chain's coin.
func pays(l verify.CallView) bool {
	a, none := l.Amount, l.Value == nil || l.Value.Sign() == 0
	if !l.Decoded || l.Recipient == "" || a == nil || a.Amount == nil || a.Decimals < 0 {
		return false
	}
	if bytesOf(l.Data) == "" {
		return a.Asset.IsNative() && !none && a.Amount.Cmp(l.Value) == 0 && l.Recipient == l.To &&
			l.Function == "" && len(l.Args) == 0
	}
	return none && strings.HasPrefix(l.Function, "transfer(") && len(l.Args) == 2 && l.Args[0].Type == "address" &&
		l.Args[0].Value == l.Recipient && movedBy(l.Args[1], l)
}

// payoutList lists many payments, by what is paid with: its contract once, then a row for each payment with recipient
// and amount in full, whether it is the first one there or another one, and the person's note.
func (p *Page) payoutList(r Review, rows []bool) {
	if !slices.Contains(rows, true) {
		return
	}
	first, again := map[string]int{}, 0 // the number of the payment that pays an address first
	for i, l := range r.Call.Lines {
		if rows[i] && first[l.Recipient] == 0 {
			first[l.Recipient] = l.Asked
		} else if rows[i] {
			again++
		}
	}
	list := slices.Clone(rows)
	for i := range list {
		if !list[i] {
			continue
		}
		of := r.Call.Lines[i]
		head := len(*p)
		p.add(Block{Right: same.verdict()})
		p.row(TableOperation, 1, targetLabel(of.Data), nil)
		n, sum := 0, new(big.Int)
		for k := i; k < len(list); k++ {
			if l := r.Call.Lines[k]; list[k] && l.To == of.To && l.Function == of.Function && l.ToName == of.ToName ||
				list[k] && bytesOf(l.Data)+bytesOf(of.Data) == "" {
				p.payout(r, k, first[l.Recipient], head)
				sum.Add(sum, l.Amount.Amount)
				list[k] = false
				n++
			}
		}
		all := *of.Amount
		all.Amount = sum
		(*p)[head].Spans = append([]Span{strong(Plural(n, "payment", "payments") + " on " +
			Clean(r.Call.Chain.Name, 60) + ", together ")}, amountSpans(all)...)
		if bytesOf(of.Data) == "" {
			*p = slices.Delete(*p, head+1, head+2) // each recipient is the target of its own payment
			continue
		}
		(*p)[head+1].Spans = append(r.target(of), gap(), say(Clean(of.Function, 600)))
	}
	if again > 0 {
		p.prose(1, nil, marked(ToneWarn, Plural(again, "payment goes", "payments go")+
			" to an address that is paid before in this list."))
	}
}

// payout is the row of one payment; the facts of its call that are those of all go to the rows at head.
func (p *Page) payout(r Review, n, first, head int) {
	l, path := r.Call.Lines[n], item("call.lines", n)
	own := []string{path + ".amount", path + ".recipient"}
	(*p)[head].Paths = append((*p)[head].Paths, path+".role", path+".function")
	if bytesOf(l.Data) == "" {
		own = append(own, path+".to", path+".value")
	} else {
		(*p)[head+1].Paths = append((*p)[head+1].Paths, path+".to")
		own = append(own, item(path+".args", 0)+".value", item(path+".args", 1)+".value")
	}
	spans := append(append(r.named(l.Recipient), gap()), amountSpans(*l.Amount)...)
	if l.FirstTime {
		own = append(own, path+".firstTime")
		spans = append(spans, gap(), remark(ToneWarn, "first time"))
	}
	if first != l.Asked {
		spans = append(spans, gap(), remark(ToneWarn, "again, as payment "+strconv.Itoa(first)))
	}
	if note := r.Intent.Calls[l.Asked-1].Note; note != "" {
		spans = append(spans, gap(), dim(Clean(note, intent.MaxNote)))
	}
	p.row(TableOperation, 1, strconv.Itoa(l.Asked), own, spans...)
}
