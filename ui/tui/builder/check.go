package builder

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coffer/api/caip"
	"coffer/ui/present"
)

// The ids of rows; i counts calls, needs and allowances from 0.
const (
	idChain     = "chain"
	idNeeds     = "needs"
	idAddNeed   = "needs.add"
	idAllow     = "allow"
	idFund      = "fund"
	idSlip      = "slip"
	idSlipBps   = "slip.bps"
	idValid     = "valid"
	idAfter     = "after"
	idInterface = "interface"
	idReview    = "review"
)

func idCall(i int) string  { return fmt.Sprintf("call.%d", i) }
func idTo(i int) string    { return fmt.Sprintf("call.%d.to", i) }
func idSig(i int) string   { return fmt.Sprintf("call.%d.sig", i) }
func idData(i int) string  { return fmt.Sprintf("call.%d.data", i) }
func idValue(i int) string { return fmt.Sprintf("call.%d.value", i) }
func idArg(i int, path []int) string {
	return fmt.Sprintf("call.%d.arg.%s", i, pathText(path))
}
func idNeed(i int, part string) string     { return fmt.Sprintf("need.%d.%s", i, part) }
func idAllowRow(i int, part string) string { return fmt.Sprintf("allow.%d.%s", i, part) }

// mistakes are the problems that the builder finds itself, by row id. Empty fields count only after Review was pressed.
func (s *Screen) mistakes() map[string]string {
	out := map[string]string{}
	put := func(id, problem string) {
		if problem != "" && out[id] == "" {
			out[id] = problem
		}
	}
	if s.slip().bps() == 0 {
		put(idSlipBps, "basis points from 1 to 10000 (100 are 1 %), or a percentage")
	}
	if s.form != formCalls {
		s.exchangeMistakes(s.x[s.form], put)
	} else {
		s.batchMistakes(put)
	}
	for id, text := range s.fieldErrors {
		put(id, text)
	}
	return out
}

func (s *Screen) batchMistakes(put func(id, problem string)) {
	for i, c := range s.b.calls {
		s.callMistakes(i, c, put)
	}
	for i, n := range s.b.needs {
		if s.b.own {
			put(idNeed(i, "amount"), s.tokenMistake(n.asset, n.amount.Value()))
		}
	}
	for i, a := range s.b.allow {
		put(idAllowRow(i, "amount"), s.tokenMistake(a.asset, a.amount.Value()))
		put(idAllowRow(i, "spender"), s.addressMistake(a.spender.Value()))
	}
	s.windowMistakes(put)
	s.overrideMistakes(put)
}

// windowMistakes checks when the calls may run (protocol §2.2): the service's window ends ten minutes after it
// prepares.
func (s *Screen) windowMistakes(put func(id, problem string)) {
	at := func(id string, m minutes) string {
		if m.preset == ownPreset {
			return id + ownSuffix
		}
		return id
	}
	valid, ok := s.b.valid.value(minMinutes, maxMinutes)
	if !ok {
		put(at(idValid, s.b.valid), fmt.Sprintf("whole minutes from %d to %d", minMinutes, maxMinutes))
	}
	if s.b.after != "" {
		n, err := strconv.ParseInt(s.b.after, 10, 64)
		if end := s.ctx.Clock().Add(time.Duration(valid) * time.Minute); err == nil && ok && n >= end.Unix() {
			put(idAfter, "its validity would end before it begins")
		}
		return
	}
	start, ok2 := s.b.start.value(0, maxMinutes)
	switch {
	case !ok2:
		put(at(idAfter, s.b.start), fmt.Sprintf("whole minutes from 0 to %d", maxMinutes))
	case ok && start >= valid:
		put(at(idAfter, s.b.start), "its validity would end before it begins")
	}
}

func (s *Screen) callMistakes(i int, c *call, put func(id, problem string)) {
	cat := s.ctx.Catalog
	put(idTo(i), s.addressMistake(c.to.Value()))
	if v := trim(c.value.Value()); v != "" {
		if _, err := quantity(v, s.b.native(cat).Decimals, s.b.native(cat).Symbol); err != nil {
			put(idValue(i), plain(err))
		}
	}
	decimals := s.b.decimals(cat, c)
	if _, _, name := c.approval(decimals); name != "" {
		id := idSig(i)
		if c.raw {
			id = idData(i)
		}
		if name == "approve" {
			how := "a moves it there"
			if s.current().takesText() {
				how = "esc, then a, moves it there"
			}
			put(id, "an approve() belongs under allow: "+how)
		} else {
			put(id, name+" cannot be a call: declare what it may take under allow")
		}
	}
	if c.raw {
		if d := trim(c.data.Value()); d != "" || s.tried {
			if _, ok := c.calldata(decimals); !ok || !strings.HasPrefix(d, "0x") {
				put(idData(i), "0x and an even number of hexadecimal digits")
			}
		}
		return
	}
	put(idSig(i), c.sigErr)
	if c.fn == nil {
		return
	}
	s.argMistakes(i, c, decimals, put)
}

func (s *Screen) argMistakes(i int, c *call, decimals int, put func(id, problem string)) {
	values, bad := valuesOf(c.args, decimals)
	for path, problem := range bad {
		put(fmt.Sprintf("call.%d.arg.%s", i, path), problem)
	}
	for _, e := range c.fn.Check(values) {
		n := find(c.args, e.Path)
		if n != nil && n.field != nil && n.field.Value() == "" && !s.tried && n.param.Type != "string" {
			continue
		}
		if bad[pathText(e.Path)] == "" {
			put(idArg(i, e.Path), needed(e.Problem))
		}
	}
}

// addressMistake checks a typed address; a known symbol or name is no mistake.
func (s *Screen) addressMistake(text string) string {
	text = trim(text)
	switch {
	case text == "" && !s.tried:
		return ""
	case text == "":
		return "an address is needed"
	case s.named(text) != "":
		return ""
	}
	if _, err := caip.ParseAddress(text); err != nil {
		if strings.HasPrefix(text, "0x") && len(text) < 42 {
			return strconv.Itoa(len(text)-2) + " of 40 hexadecimal digits"
		}
		return "an address is 0x and 40 hexadecimal digits"
	}
	if caip.CheckEIP55(text) != nil {
		return "the checksum is wrong: a letter or digit has changed"
	}
	return ""
}

func (s *Screen) tokenMistake(asset, text string) string {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return "choose an asset first"
	}
	e, ok := s.ctx.Catalog.Entity(a)
	if text = trim(text); !ok || text == "" {
		if text == "" && !s.tried {
			return ""
		}
		return "an amount is needed"
	}
	if _, err := quantity(text, e.Decimals, e.Symbol); err != nil {
		return plain(err)
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

func plain(err error) string { return present.Clean(err.Error(), 200) }

// named is the address of a known token's symbol or of a contact's name, "" for any other text.
func (s *Screen) named(text string) string {
	for _, e := range s.b.tokens(s.ctx.Catalog) {
		if strings.EqualFold(e.Symbol, text) {
			a, _ := e.Asset.Token()
			return a.Hex()
		}
	}
	return s.person(text)
}

// person is the address of a contact's name, "" for any other text. A recipient is never a token's symbol.
func (s *Screen) person(text string) string {
	for _, c := range s.deps.Book {
		if strings.EqualFold(c.Name, text) {
			return c.Address
		}
	}
	return ""
}
