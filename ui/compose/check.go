package compose

import (
	"strconv"
	"strings"
	"time"

	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// Form is one kind of request as typed: *Calls or *Exchange.
type Form interface {
	// Kind is the kind of intent that the form makes.
	Kind() string
	// Empty reports whether nothing is typed.
	Empty() bool
	// Draft turns the form into a draft for the accounts of w. It is only meaningful without mistakes.
	Draft(w *World) intent.Draft
	// Field maps a path of a request to the field that holds it, "" for none.
	Field(path string) string
	// Tolerance is how far the price may move.
	Tolerance() *Choice
	check(k *checker)
	caution(w *World, put func(id string, c Caution))
	sum(w *World, s *Summary)
}

// checker collects mistakes by field. Empty fields are mistakes only when the person tried to go on.
type checker struct {
	w     *World
	tried bool
	out   map[string]string
}

// Mistakes are what is wrong with a form, by field; empty fields count only with tried.
func (w *World) Mistakes(f Form, tried bool) map[string]string {
	k := &checker{w, tried, map[string]string{}}
	if f.Tolerance().Preset == OwnBps {
		_, problem := Slippage(f.Tolerance().Text)
		k.put(IDSlipBps, problem)
	}
	f.check(k)
	return k.out
}

func (k *checker) put(id, problem string) {
	if problem != "" && k.out[id] == "" {
		k.out[id] = problem
	}
}

// need puts what an empty field lacks; it reports whether the field has text.
func (k *checker) need(id, text, problem string) bool {
	if trim(text) != "" {
		return true
	}
	if k.tried {
		k.put(id, problem)
	}
	return false
}

func (k *checker) address(id string, chain caip.Chain, text string) {
	if k.need(id, text, addressNeeded) {
		_, problem := k.w.Address(chain, text)
		k.put(id, problem)
	}
}

func (k *checker) token(id, asset, text string) {
	if _, err := caip.ParseAsset(asset); err != nil {
		k.put(id, "choose an asset first")
		return
	}
	e, ok := k.w.Entity(asset)
	if !ok && trim(text) != "" {
		k.put(id, amountNeeded)
	} else if k.need(id, text, amountNeeded) {
		_, problem := Amount(text, e.Decimals, e.Symbol)
		k.put(id, problem)
	}
}

const amountNeeded = "an amount is needed"

func (b *Calls) check(k *checker) {
	for i, c := range b.Calls {
		b.checkCall(k, i, c)
	}
	for i, n := range b.Needs {
		if b.Own {
			k.token(IDNeed(i, "amount"), n.Asset, n.Amount)
		}
	}
	for i, a := range b.Allow {
		k.token(IDAllowance(i, "amount"), a.Asset, a.Amount)
		k.address(IDAllowance(i, "spender"), b.Chain, a.Spender)
	}
	b.checkWindow(k)
	b.overrideMistakes(k)
}

// checkWindow checks when the calls may run (protocol §2.2): the service's window ends ten minutes after it prepares.
func (b *Calls) checkWindow(k *checker) {
	at := func(id string, m Choice) string {
		if m.Preset == OwnMinutes {
			return id + OwnText
		}
		return id
	}
	const early = "its validity would end before it begins"
	valid, wrong := b.Valid.Minutes(MinMinutes, MaxMinutes)
	k.put(at(IDValid, b.Valid), wrong)
	if b.After != "" {
		n, err := strconv.ParseInt(b.After, 10, 64)
		if end := k.w.Clock().Add(time.Duration(valid) * time.Minute); err == nil && wrong == "" && n >= end.Unix() {
			k.put(IDAfter, early)
		}
		return
	}
	start, late := b.Start.Minutes(0, MaxMinutes)
	k.put(at(IDAfter, b.Start), late)
	if wrong == "" && late == "" && start >= valid {
		k.put(at(IDAfter, b.Start), early)
	}
}

// ApproveMistake is the mistake of an approve() that is typed as a call.
const ApproveMistake = "an approve() belongs under allow"

func (b *Calls) checkCall(k *checker, i int, c *Call) {
	k.address(IDTo(i), b.Chain, c.To)
	t := b.target(k.w, c)
	if v := trim(c.Value); v != "" {
		_, problem := Amount(v, t.Coin().Decimals, t.Coin().Symbol)
		k.put(IDValue(i), problem)
	}
	id := IDSig(i)
	if c.Raw {
		id = IDData(i)
	}
	k.put(id, c.Granted(t))
	if c.Raw {
		if d := trim(c.Data); d != "" || k.tried {
			_, problem := Bytes(d)
			k.put(id, problem)
		}
		return
	}
	k.put(id, c.SigErr)
	if c.Fn != nil {
		for _, m := range c.argMistakes(t, k.tried) {
			k.put(IDArg(i, m.path), m.problem)
		}
	}
}

// Granted says why the function cannot be a call, "" when it grants no rights.
func (c *Call) Granted(t Target) string {
	switch _, _, name := c.Approval(t); name {
	case "":
		return ""
	case "approve":
		return ApproveMistake
	default:
		return name + " cannot be a call: declare what it may take under allow"
	}
}

// argMistake is what is wrong with the argument at a path.
type argMistake struct {
	path    []int
	problem string
}

func (c *Call) argMistakes(t Target, tried bool) []argMistake {
	values, bad := valuesOf(c.Args, t)
	var out []argMistake
	Walk(c.Args, func(path []int, _ *Arg) {
		if problem := bad[pathText(path)]; problem != "" {
			out = append(out, argMistake{path, problem})
		}
	})
	for _, e := range c.Fn.Check(values) {
		n := Find(c.Args, e.Path)
		empty := n != nil && n.IsLeaf() && n.Text == "" && n.Param.Type != "string"
		if bad[pathText(e.Path)] == "" && (tried || !empty) {
			out = append(out, argMistake{e.Path, needed(e.Problem)})
		}
	}
	return out
}

// ArgMistake is what is wrong with the argument at a path, "" when it can be encoded.
func (c *Call) ArgMistake(t Target, path []int) string {
	for _, m := range c.argMistakes(t, true) {
		if pathText(m.path) == pathText(path) {
			return m.problem
		}
	}
	return ""
}

// needed turns a problem into a sentence for a person: "want a number" becomes "needs a number".
func needed(problem string) string {
	if rest, ok := strings.CutPrefix(problem, "want "); ok {
		problem = "needs " + rest
	}
	return present.Clean(problem, 200)
}
